"""German: checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.store import StoreWords


class GermanStore(StoreWords):
    store_phrases: ClassVar[Mapping[str, str]] = {
        "step": "Schritt",
        "size": "Größe",
        "age": "Alter",
        "metric": "Metrik",
        "paid": "bezahlt",
        "durable": "sicher",
        "newest": "neuester",
        "latest": "latest",
        "whole": "heil",
        "foreign": "fremd",
        "damaged": "beschädigt",
        "unreadable": "nicht lesbar",
        "baseless": "Basis fehlt",
        "kept": "bleibt",
        "gone": "gelöscht",
        "going": "würde gehen",
        "nobody": "zurzeit speichert hier kein Training",
        "ends": "bezahlt: so lange wartete das Training auf das Speichern; sicher: nach so langer "
        "Zeit lag der Checkpoint fest auf dem Datenträger. Verglichen wurden Enden und Größen, "
        "nicht jedes Byte.",
        "empty": "Hier ist kein Checkpoint.",
        "stale": "`latest` ist eine Datei, nicht die Verknüpfung mit dem neuesten: Wer sie "
        "öffnet, bekommt einen früheren Stand. Ihr einen anderen Namen geben:",
        "next": "weiter: ",
        "next.verify": "vergleicht jedes Byte",
        "next.explain": "wo die Zeit geblieben ist",
        "next.doctor": "sieht sich vor dem Lauf den Datenträger an",
        "next.list": "zeigt, was da ist",
        "next.closed": "zeigt, wer sie lesen darf",
        "next.unpack": "stellt das Original Byte für Byte wieder her",
        "next.prune": "löscht sie",
        "next.load": "zeigt, was darin ist",
    }
    store_units: ClassVar[Mapping[str, str]] = {
        "s": "\u00a0s",
        "min": "\u00a0min",
        "h": "\u00a0h",
        "d": "\u00a0Tage",
    }

    def store_contents(self, count: int, num_bytes: int) -> str:
        return f"{self._checkpoints(count)}, {self.bytes(num_bytes)}"

    def store_owner(self, host: str, pid: int, is_training: bool, is_here: bool) -> str:
        if not is_here:
            return (
                f"zuletzt speicherte hier das Training mit der PID {pid} auf {host}; vielleicht "
                "läuft es noch"
            )
        if is_training:
            return f"das Training mit der PID {pid} auf {host} speichert hier"
        return f"Prozess {pid} auf {host} schreibt für ein beendetes Training zu Ende"

    def store_leftovers(self, count: int, num_bytes: int, is_owned: bool) -> str:
        files = (
            "1 unfertige Datei" if count == 1 else f"{self.number(count)} unfertige Dateien"
        ) + f" ({self.bytes(num_bytes)})"
        if is_owned:
            return f"{files}: wird gerade geschrieben."
        return f"{files}, von einem Absturz übrig: das nächste Training räumt sie weg."

    def store_strays(self, count: int, num_bytes: int) -> str:
        size = self.bytes(num_bytes)
        if count == 1:
            return (
                f"1 verwaistes Manifest ({size}): sein Checkpoint ist weg. Das nächste Training "
                "räumt es auf."
            )
        return (
            f"{self.number(count)} verwaiste Manifeste ({size}): ihre Checkpoints sind weg. Das "
            "nächste Training räumt sie auf."
        )

    def store_verdict(self, num_whole: int, num_bytes: int) -> str:
        return (
            f"{self._checkpoints(num_whole)} bis aufs letzte Byte wie geschrieben "
            f"({self.bytes(num_bytes)} gelesen)."
        )

    def store_not_compared(self, count: int) -> str:
        return f"{self._without_manifest(count)}: mit nichts verglichen."

    def store_damage(self, num_damaged: int) -> str:
        return f"{self._checkpoints(num_damaged)} beschädigt."

    def store_unreadable(self, count: int) -> str:
        return f"{self._checkpoints(count)} nicht lesbar."

    def store_pieces(self, why: str, num_damaged: int, num_pieces: int) -> str:
        return f"{why} ({self.number(num_damaged)} von {self.number(num_pieces)} Stücken)"

    def store_pruned(self, count: int, num_bytes: int, num_kept: int, is_dry: bool) -> str:
        if not count:
            return f"Nichts zu löschen: {self._checkpoints(num_kept)} zu behalten."
        if is_dry:
            verb = "würde gelöscht" if count == 1 else "würden gelöscht"
            stays = f"{self.number(num_kept)} {'bliebe' if num_kept == 1 else 'blieben'}"
        else:
            verb = "gelöscht"
            stays = f"{self.number(num_kept)} {'bleibt' if num_kept == 1 else 'bleiben'}"
        return f"{self._checkpoints(count)} {verb} ({self.bytes(num_bytes)}), {stays}."

    def store_base_of(self, steps: str, num_others: int) -> str:
        more = f" und {self.number(num_others)} weiteren" if num_others else ""
        return f"bleibt: Basis von {steps}{more}"

    def store_foreign(self, count: int) -> str:
        what = "bleibt unberührt: nicht von instride, oder eine Kopie"
        if count > 1:
            what = "bleiben unberührt: nicht von instride, oder Kopien"
        return f"{self._without_manifest(count)}, {what} ohne das versteckte `.instride`."

    def _without_manifest(self, count: int) -> str:
        return f"{'1 Datei' if count == 1 else f'{self.number(count)} Dateien'} ohne Manifest"

    def store_exported(self, count: int, num_bytes: int, path: str) -> str:
        tensors = "1 Tensor" if count == 1 else f"{self.number(count)} Tensoren"
        return f"{tensors} ({self.bytes(num_bytes)}) geschrieben: {path}"

    def store_copied(self, names: str, num_others: int) -> str:
        return (
            "Das Format kennt keinen gemeinsamen Speicher; einzeln geschrieben wurden: "
            f"{names}{self._more(num_others)}."
        )

    def store_left_out(self, names: str, num_others: int) -> str:
        return f"Weggelassen, weil es keine Tensoren sind: {names}{self._more(num_others)}."

    def _checkpoints(self, count: int) -> str:
        return "1 Checkpoint" if count == 1 else f"{self.number(count)} Checkpoints"

    def _more(self, count: int) -> str:
        return f" und {self.number(count)} weitere" if count else ""
