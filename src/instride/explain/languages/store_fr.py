"""French: checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.store import StoreWords


class FrenchStore(StoreWords):
    store_phrases: ClassVar[Mapping[str, str]] = {
        "step": "étape",
        "size": "taille",
        "age": "âge",
        "metric": "métrique",
        "paid": "payé",
        "durable": "sûr",
        "newest": "dernier",
        "latest": "latest",
        "whole": "intact",
        "foreign": "étranger",
        "damaged": "endommagé",
        "unreadable": "illisible",
        "baseless": "base absente",
        "kept": "gardé",
        "gone": "supprimé",
        "going": "à supprimer",
        "nobody": "aucun entraînement n'enregistre ici en ce moment",
        "ends": "payé\u00a0: ce que l'entraînement a attendu\u00a0; sûr\u00a0: le temps jusqu'à ce "
        "que le fichier soit sur le disque. Les fins et les tailles ont été comparées, pas chaque "
        "octet.",
        "empty": "Il n'y a pas de checkpoint ici.",
        "stale": "`latest` est un fichier, non le lien vers le plus récent\u00a0: qui l'ouvre "
        "obtient un état antérieur. Donnez-lui un autre nom\u00a0:",
        "next": "ensuite\u00a0: ",
        "next.verify": "compare chaque octet",
        "next.explain": "où le temps est passé",
        "next.doctor": "examine son disque avant un entraînement",
        "next.list": "montre ce qu'il y a",
        "next.closed": "montre qui peut le lire",
        "next.unpack": "rend l'original, octet pour octet",
        "next.prune": "les supprime",
        "next.load": "montre ce qu'il contient",
    }
    store_units: ClassVar[Mapping[str, str]] = {
        "s": "\u00a0s",
        "min": "\u00a0min",
        "h": "\u00a0h",
        "d": "\u00a0j",
    }

    def store_contents(self, count: int, num_bytes: int) -> str:
        return f"{self._checkpoints(count)}, {self.bytes(num_bytes)}"

    def store_owner(self, host: str, pid: int, is_training: bool, is_here: bool) -> str:
        if not is_here:
            return (
                f"dernier entraînement connu ici\u00a0: PID {pid} sur {host}\u00a0; il tourne "
                "peut-être encore"
            )
        if is_training:
            return f"l'entraînement de PID {pid} sur {host} enregistre ici"
        return f"le processus {pid} sur {host} termine pour un entraînement arrêté"

    def store_leftovers(self, count: int, num_bytes: int, is_owned: bool) -> str:
        many = count > 1
        files = f"{self.number(count)} fichier{'s' if many else ''} inachevé{'s' if many else ''}"
        files += f" ({self.bytes(num_bytes)})"
        if is_owned:
            return f"{files}, en cours d'écriture."
        them = "les" if many else "le"
        left = f"laissé{'s' if many else ''} par un arrêt brutal"
        return f"{files}, {left}\u00a0: le prochain entraînement {them} supprimera."

    def store_strays(self, count: int, num_bytes: int) -> str:
        size = self.bytes(num_bytes)
        if count == 1:
            return (
                f"1 manifeste orphelin ({size})\u00a0: son checkpoint n'est plus là. Le prochain "
                "entraînement le supprimera."
            )
        return (
            f"{self.number(count)} manifestes orphelins ({size})\u00a0: leurs checkpoints ne sont "
            "plus là. Le prochain entraînement les supprimera."
        )

    def store_verdict(self, num_whole: int, num_bytes: int) -> str:
        end = "s" if num_whole > 1 else ""
        return (
            f"{self._checkpoints(num_whole)} intact{end} jusqu'au dernier octet "
            f"({self.bytes(num_bytes)} lus)."
        )

    def store_not_compared(self, count: int) -> str:
        compared = "comparé" if count == 1 else "comparés"
        return f"{self._without_manifest(count)}\u00a0: {compared} à rien."

    def store_damage(self, num_damaged: int) -> str:
        return f"{self._checkpoints(num_damaged)} endommagé{'s' if num_damaged > 1 else ''}."

    def store_unreadable(self, count: int) -> str:
        return f"{self._checkpoints(count)} illisible{'s' if count > 1 else ''}."

    def store_pieces(self, why: str, num_damaged: int, num_pieces: int) -> str:
        pieces = "morceaux" if num_damaged > 1 else "morceau"
        return f"{why} ({self.number(num_damaged)} {pieces} sur {self.number(num_pieces)})"

    def store_pruned(self, count: int, num_bytes: int, num_kept: int, is_dry: bool) -> str:
        if not count:
            return f"Rien à supprimer\u00a0: {self._checkpoints(num_kept)} à garder."
        end = "s" if count > 1 else ""
        verb = f"serai{'en' if end else ''}t supprimé{end}" if is_dry else f"supprimé{end}"
        kept = f"{self.number(num_kept)} gardé{'s' if num_kept > 1 else ''}"
        return f"{self._checkpoints(count)} {verb} ({self.bytes(num_bytes)}), {kept}."

    def store_base_of(self, steps: str, num_others: int) -> str:
        return f"gardé\u00a0: base de {steps}{self._more(num_others)}"

    def store_foreign(self, count: int) -> str:
        what = "laissé tel quel\u00a0: étranger à instride, ou copié"
        if count > 1:
            what = "laissés tels quels\u00a0: étrangers à instride, ou copiés"
        return f"{self._without_manifest(count)}, {what} sans le dossier caché `.instride`."

    def _without_manifest(self, count: int) -> str:
        return f"{self.number(count)} fichier{'s' if count > 1 else ''} sans manifeste"

    def store_exported(self, count: int, num_bytes: int, path: str) -> str:
        end = "s" if count > 1 else ""
        size = self.bytes(num_bytes)
        return f"{self.number(count)} tenseur{end} ({size}) écrit{end} dans {path}"

    def store_copied(self, names: str, num_others: int) -> str:
        return (
            "Le format ne connaît pas la mémoire partagée\u00a0; écrits un par un\u00a0: "
            f"{names}{self._more(num_others)}."
        )

    def store_left_out(self, names: str, num_others: int) -> str:
        return (
            "Laissés de côté, car ce ne sont pas des tenseurs\u00a0: "
            f"{names}{self._more(num_others)}."
        )

    def _checkpoints(self, count: int) -> str:
        return f"{self.number(count)} checkpoint{'s' if count > 1 else ''}"

    def _more(self, count: int) -> str:
        return f" et {self.number(count)} autre{'s' if count > 1 else ''}" if count else ""
