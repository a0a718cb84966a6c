"""French: two runs side by side. No-break spaces are written out, narrow ones before `;`, `%`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from instride.explain.compared import Comparison, Group
from instride.explain.languages.compare import CompareWords
from instride.explain.languages.facts import Facts, number_of
from instride.explain.languages.screen import Around

SIDES = {"before": "d'avant", "after": "d'après"}


class FrenchCompare(CompareWords):
    colon: ClassVar = "\u00a0: "
    compare_phrases: ClassVar[Mapping[str, str]] = {
        "before": "avant",
        "after": "après",
        "where": "Où passe le temps",
        "findings": "Constats",
        "as_before": "Les constats sont les mêmes qu'avant.",
        "log": "journal",
        "steps": "étapes",
        "ordinary": "étape normale",
        "time": "durée",
        "share": "part",
        "change": "écart",
        "in_all": "en tout",
        "closing": "à la fin",
        "once": "une fois",
        "unclear": "?",
    }
    compare_changes: ClassVar[Mapping[str, str]] = {
        "gone": "disparu",
        "new": "nouveau",
        "cheaper": "moins cher",
        "dearer": "plus cher",
    }
    compare_groups: ClassVar[Mapping[str, str]] = {
        "compute": "les étapes coûtent dans l'ensemble",
        "eval": "l'évaluation coûte",
        "save": "la sauvegarde coûte",
        "aftermath": "le ralentissement après sauvegarde coûte",
        "save+aftermath": "la sauvegarde et le ralentissement qui suit coûtent",
        "eval+save": "l'évaluation et la sauvegarde coûtent",
        "eval+save+aftermath": "l'évaluation, la sauvegarde et le ralentissement qui suit coûtent",
        "data": "l'attente des données coûte",
        "unknown": "les étapes lentes sans raison indiquée coûtent",
    }
    compare_pauses: ClassVar[Mapping[str, str]] = {
        "eval": "l'évaluation",
        "save": "la sauvegarde",
        "aftermath": "le ralentissement après sauvegarde",
        "data": "l'attente des données",
        "unknown": "la lenteur sans raison indiquée",
    }

    def compare_rate_head(self) -> str:
        return f"s/{self.compare_thousand()}"

    def compare_rate_note(self) -> str:
        return (
            f" ({self.compare_rate_head()}\u00a0: secondes pour {self.compare_thousand()} étapes)"
        )

    def compare_total_head(self) -> str:
        return f"{self.compare_thousand()} étapes"

    def compare_no_difference(self, step_s: float, share: float) -> str:
        return (
            f"Aucune différence\u00a0: une étape normale dure {self.seconds(step_s)} comme avant, "
            f"et rien ne coûte {self.number(100 * share)}\u202f% du temps de plus ou de moins."
        )

    def compare_as_fast(self, step_s: float) -> str:
        return f"Les étapes sont aussi rapides qu'avant ({self.seconds(step_s)})."

    def compare_speed(self, before_s: float, after_s: float) -> str:
        share = self.percent(abs(after_s - before_s) / before_s)
        less = "de moins" if after_s < before_s else "de plus"
        return (
            f"Une étape normale dure {self.seconds(after_s)} au lieu de {self.seconds(before_s)} "
            f"({share} {less})."
        )

    def compare_costs(self, groups: Sequence[Group]) -> str:
        said = [
            f"{self.compare_groups[group.name]} {self._compare_instead(group)}" for group in groups
        ]
        return f"Pour {self.compare_thousand()} étapes, {_joined(said)}."

    def _compare_instead(self, group: Group) -> str:
        if not group.after_s:
            return f"désormais zéro au lieu de {self.seconds(group.before_s)}"
        if not group.before_s:
            return f"{self.seconds(group.after_s)}, contre zéro avant"
        return f"{self.seconds(group.after_s)} au lieu de {self.seconds(group.before_s)}"

    def compare_won(self, comparison: Comparison) -> str:
        share = self.percent(abs(comparison.won_share))
        result = f"il faut {share} de temps en plus"
        if comparison.won_share > 0:
            result = f"{share} du temps est gagné"
        return (
            f"Au total, {result}\u00a0: {self.seconds(abs(comparison.won_per_1000_s))} pour "
            f"{self.compare_thousand()} étapes, soit "
            f"{self.seconds(abs(comparison.won_over_before_s))} sur les "
            f"{self.number(comparison.before.num_steps)} étapes d'avant."
        )

    def compare_even(self) -> str:
        return f"Au total, {self.compare_thousand()} étapes durent autant qu'avant."

    def compare_once(self, before_s: float, after_s: float) -> str:
        return (
            f"Le démarrage et la fin prennent {self.seconds(after_s)} au lieu de "
            f"{self.seconds(before_s)}, une seule fois."
        )

    def compare_finding(self, before_s: float | None, after_s: float | None, is_once: bool) -> str:
        unit = "une seule fois" if is_once else f"pour {self.compare_thousand()} étapes"
        if before_s is not None and after_s is not None:
            return f"{self.seconds(after_s)} au lieu de {self.seconds(before_s)} {unit}"
        return f"{self.seconds(before_s or after_s or 0.0)} {unit}"

    def compare_more(self, count: int) -> str:
        others = "1 autre, inchangé ou négligeable"
        if count > 1:
            others = f"{self.number(count)} autres, inchangés ou négligeables"
        return f"et {others} (tous avec --json)"

    def compare_cannot(self, sentences: Sequence[str]) -> str:
        return "À noter\u00a0: " + " ".join(sentences)

    def compare_next(self, command: str) -> Around:
        return Around("ensuite\u00a0: ", command, "   ce qui reste à gagner")

    def cannot_dialects(self, f: Facts) -> str:
        return (
            f"Les journaux viennent de programmes différents ({self._trainers(f, ', ')}), qui "
            "peuvent compter et mesurer les étapes autrement."
        )

    def cannot_sampling(self, f: Facts) -> str:
        before, after = (self._compare_logged(f, side) for side in ("before", "after"))
        return (
            f"Le journal contient {before} avant, {after} après\u00a0: les étapes lentes isolées "
            "ne se comparent pas."
        )

    def cannot_wall(self, f: Facts) -> str:
        return (
            f"Seul le journal {SIDES[str(f['has_wall'])]} est horodaté\u00a0: le temps passé hors "
            "des étapes ne se compare pas."
        )

    def cannot_data(self, f: Facts) -> str:
        return (
            f"Seul le journal {SIDES[str(f['has_data'])]} dit combien de temps les étapes "
            "attendent les données\u00a0: dans l'autre, c'est compris dans le calcul."
        )

    def cannot_hidden(self, f: Facts) -> str:
        return (
            f"Aucun chiffre du journal {self._compare_side(f)} ne dit ce que coûte "
            f"{self._compare_owner(f)}\u00a0: ce coût ne se compare pas et n'est pas compté."
        )

    def cannot_short(self, f: Facts) -> str:
        steps = f"{self.number(number_of(f, 'steps'))} étapes"
        comes = "une fois dans l'autre"
        if f["every"]:
            comes = f"toutes les {self.number(number_of(f, 'every'))} étapes"
        return (
            f"Le journal {self._compare_side(f)} n'a que {steps}, trop peu pour voir "
            f"{self._compare_owner(f)} ({comes})\u00a0: ce coût n'est pas compté."
        )

    def cannot_joint(self, f: Facts) -> str:
        return (
            f"Dans le journal {self._compare_side(f)}, l'évaluation et la sauvegarde partagent une "
            "pause\u00a0: elles ne se comparent qu'ensemble."
        )

    def cannot_single(self, f: Facts) -> str:
        return (
            f"Le journal {self._compare_side(f)} ne montre {self._compare_owner(f)} qu'une fois"
            f"\u00a0: son coût pour {self.compare_thousand()} étapes est approximatif."
        )

    def cannot_accidents(self, f: Facts) -> str:
        return (
            "Les arrêts entre processus et le travail perdu ne sont pas comptés\u00a0: ils "
            "viennent de pannes."
        )

    def cannot_work(self, f: Facts) -> str:
        return (
            "Les journaux ne disent pas si une étape fait le même travail (taille de lot, "
            "longueur)."
        )

    def _compare_logged(self, f: Facts, side: str) -> str:
        every = int(number_of(f, side))
        return "chaque étape" if every == 1 else f"une étape sur {self.number(every)}"

    def _compare_owner(self, f: Facts) -> str:
        return self.compare_pauses[str(f["owner"])]

    def _compare_side(self, f: Facts) -> str:
        return SIDES[str(f["side"])]


def _joined(said: list[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} et {said[-1]}"
