"""German: two runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from instride.explain.compared import Comparison, Group
from instride.explain.languages.compare import CompareWords
from instride.explain.languages.facts import Facts, number_of
from instride.explain.languages.screen import Around

RUNS = {"before": "der Lauf vorher", "after": "der Lauf nachher"}
IN_RUNS = {"before": "im Lauf vorher", "after": "im Lauf nachher"}


class GermanCompare(CompareWords):
    compare_phrases: ClassVar[Mapping[str, str]] = {
        "before": "vorher",
        "after": "nachher",
        "where": "Wo die Zeit bleibt",
        "findings": "Befunde",
        "as_before": "Die Befunde sind wie vorher.",
        "log": "Log",
        "steps": "Schritte",
        "ordinary": "normaler Schritt",
        "time": "Zeit",
        "share": "Anteil",
        "change": "Änderung",
        "in_all": "insgesamt",
        "closing": "am Ende",
        "once": "einmalig",
        "unclear": "?",
    }
    compare_changes: ClassVar[Mapping[str, str]] = {
        "gone": "weg",
        "new": "neu",
        "cheaper": "billiger",
        "dearer": "teurer",
    }
    compare_groups: ClassVar[Mapping[str, str]] = {
        "compute": "die Schritte insgesamt",
        "eval": "die Evaluierung",
        "save": "das Speichern",
        "aftermath": "die Nachwirkungen des Speicherns",
        "save+aftermath": "das Speichern und seine Nachwirkungen",
        "eval+save": "Evaluierung und Speichern",
        "eval+save+aftermath": "Evaluierung, Speichern und dessen Nachwirkungen",
        "data": "das Warten auf Daten",
        "unknown": "langsame Schritte ohne erkennbaren Grund",
    }
    compare_pauses: ClassVar[Mapping[str, str]] = {
        "eval": "die Evaluierung",
        "save": "das Speichern",
        "aftermath": "die Zeit nach dem Speichern",
        "data": "das Warten auf Daten",
        "unknown": "die Zeit für langsame Schritte ohne erkennbaren Grund",
    }

    def compare_rate_head(self) -> str:
        return f"s/{self.compare_thousand()}"

    def compare_rate_note(self) -> str:
        return f" ({self.compare_rate_head()}: Sekunden je {self.compare_thousand()} Schritte)"

    def compare_total_head(self) -> str:
        return f"{self.compare_thousand()} Schritte"

    def compare_no_difference(self, step_s: float, share: float) -> str:
        return (
            f"Kein Unterschied: Ein normaler Schritt dauert wie vorher {self.seconds(step_s)}, "
            f"und nichts kostet {self.number(100 * share)}\u00a0% der Zeit mehr oder weniger."
        )

    def compare_as_fast(self, step_s: float) -> str:
        return f"Die Schritte sind so schnell wie vorher ({self.seconds(step_s)})."

    def compare_speed(self, before_s: float, after_s: float) -> str:
        share = self.percent(abs(after_s - before_s) / before_s)
        less = "weniger" if after_s < before_s else "mehr"
        return (
            f"Ein normaler Schritt dauert {self.seconds(after_s)} statt {self.seconds(before_s)} "
            f"({share} {less})."
        )

    def compare_costs(self, groups: Sequence[Group]) -> str:
        said = [
            f"{self.compare_groups[group.name]} {self._compare_amount(group.after_s)} statt "
            f"{self._compare_amount(group.before_s)}"
            for group in groups
        ]
        many = "+" in groups[0].name or groups[0].name in ("compute", "aftermath", "unknown")
        cost = "kosten" if many else "kostet"
        return f"Je {self.compare_thousand()} Schritte {cost} {_joined(said)}."

    def compare_won(self, comparison: Comparison) -> str:
        share = self.percent(abs(comparison.won_share))
        result = f"dauert es {share} länger"
        if comparison.won_share > 0:
            result = f"sind {share} der Zeit gewonnen"
        return (
            f"Insgesamt {result}: {self.seconds(abs(comparison.won_per_1000_s))} je "
            f"{self.compare_thousand()} Schritte, "
            f"{self.seconds(abs(comparison.won_over_before_s))} auf die "
            f"{self.number(comparison.before.num_steps)} Schritte des Laufs vorher gerechnet."
        )

    def compare_even(self) -> str:
        return f"Insgesamt dauern {self.compare_thousand()} Schritte so lange wie vorher."

    def compare_once(self, before_s: float, after_s: float) -> str:
        return (
            f"Anfang und Ende kosten einmalig {self._compare_amount(after_s)} statt "
            f"{self._compare_amount(before_s)}."
        )

    def compare_finding(self, before_s: float | None, after_s: float | None, is_once: bool) -> str:
        unit = "einmalig" if is_once else f"je {self.compare_thousand()} Schritte"
        if before_s is not None and after_s is not None:
            return f"{self.seconds(after_s)} statt {self.seconds(before_s)} {unit}"
        return f"{self.seconds(before_s or after_s or 0.0)} {unit}"

    def compare_more(self, count: int) -> str:
        others = "1 weiterer" if count == 1 else f"{self.number(count)} weitere"
        return f"und {others}, wie vorher oder zu klein (alle mit --json)"

    def compare_cannot(self, sentences: Sequence[str]) -> str:
        return "Zu beachten: " + " ".join(sentences)

    def compare_next(self, command: str) -> Around:
        return Around("weiter: ", command, "   was noch zu holen ist")

    def cannot_dialects(self, f: Facts) -> str:
        return (
            f"Die Logs stammen von verschiedenen Trainern ({self._trainers(f, ', ')}), die "
            "Schritte anders zählen und messen können."
        )

    def cannot_sampling(self, f: Facts) -> str:
        before, after = (self._compare_logged(f, side) for side in ("before", "after"))
        return (
            f"Vorher steht {before} im Log, nachher {after}: Einzelne langsame Schritte lassen "
            "sich nicht vergleichen."
        )

    def cannot_wall(self, f: Facts) -> str:
        return (
            f"Nur {RUNS[str(f['has_wall'])]} hat Zeitstempel: Zeit außerhalb der Schritte lässt "
            "sich nicht vergleichen."
        )

    def cannot_data(self, f: Facts) -> str:
        return (
            f"Nur {RUNS[str(f['has_data'])]} sagt, wie lange Schritte auf Daten warten: Im anderen "
            "steckt das im Rechnen."
        )

    def cannot_hidden(self, f: Facts) -> str:
        where = IN_RUNS[str(f["side"])]
        return (
            f"Was {self._compare_owner(f)} kostet, steht {where} in keiner Zahl; es lässt sich "
            "nicht vergleichen und zählt nicht mit."
        )

    def cannot_short(self, f: Facts) -> str:
        steps = f"{self.number(number_of(f, 'steps'))} Schritte"
        comes = "im anderen Lauf einmal zu sehen"
        if f["every"]:
            comes = f"im anderen Lauf alle {self.number(number_of(f, 'every'))} Schritte"
        return (
            f"{self._compare_run(f)} hat nur {steps}, zu wenige für {self._compare_owner(f)} "
            f"({comes}); das zählt nicht mit."
        )

    def cannot_joint(self, f: Facts) -> str:
        return (
            f"{self._compare_in_run(f)} teilen sich Evaluierung und Speichern eine Pause; sie "
            "lassen sich nur zusammen vergleichen."
        )

    def cannot_single(self, f: Facts) -> str:
        return (
            f"{self._compare_run(f)} zeigt {self._compare_owner(f)} nur einmal: Die Kosten je "
            f"{self.compare_thousand()} Schritte sind grob."
        )

    def cannot_accidents(self, f: Facts) -> str:
        return (
            "Stillstand zwischen Prozessen und verlorene Arbeit zählen nicht mit: Sie kommen von "
            "Abstürzen."
        )

    def cannot_work(self, f: Facts) -> str:
        return (
            "Ob ein Schritt gleich viel Arbeit leistet (Batchgröße, Länge), sagen die Logs nicht."
        )

    def _compare_amount(self, seconds: float) -> str:
        return self.seconds(seconds) if seconds > 0 else "nichts"

    def _compare_logged(self, f: Facts, side: str) -> str:
        every = int(number_of(f, side))
        return "jeder Schritt" if every == 1 else f"jeder {self.number(every)}. Schritt"

    def _compare_owner(self, f: Facts) -> str:
        return self.compare_pauses[str(f["owner"])]

    def _compare_run(self, f: Facts) -> str:
        return _capital(RUNS[str(f["side"])])

    def _compare_in_run(self, f: Facts) -> str:
        return _capital(IN_RUNS[str(f["side"])])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _joined(said: list[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} und {said[-1]}"
