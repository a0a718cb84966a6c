"""German: the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from instride.explain.languages.screen import Around, RunFacts, ScreenWords, ended
from instride.explain.report import Confidence


class GermanScreen(ScreenWords):
    letters: ClassVar = "äöüßÄÖÜ"
    table_heads: ClassVar[Mapping[str, str]] = {
        "time": "Zeit",
        "share": "Anteil",
        "steps": "Schritte",
        "typical": "typisch",
        "worst": "maximal",
    }
    screen_phrases: ClassVar[Mapping[str, str]] = {
        "where": "Wo die Zeit geblieben ist",
        "stdin": "Standardeingabe",
        "joint": "Eval. + Speich.",
        "typical": "typisch: Median je Schritt (Rechnen) oder Pause",
        "twice": "; mancher Schritt zählt doppelt",
        "picture": "Schrittdauer im Verlauf",
        "findings": "Befunde",
        "order": ", die teuersten zuerst",
        "advice": "Empfohlene Einstellungen",
        "between": "zwischen den Prozessen, nicht in den Anteilen",
        "following": "folgt dem Log; Strg+C beendet",
        "others": "Andere Formate errät instride explain LOG.",
        "describe": "Wenn das misslingt, lässt sich angeben, wie ein Schritt aussieht:",
    }
    sampling_labels: ClassVar[Mapping[str, str]] = {
        "every step": "Dauer jedes Schritts",
        "every k-th step": "Dauer jedes k-ten Schritts",
        "average over k steps": "Mittelwert über k Schritte",
        "running total": "fortlaufende Gesamtzeit",
        "totals only": "nur Gesamtzeiten",
    }
    pause_labels: ClassVar[Mapping[str, str]] = {
        "same": "Pausen stecken in der Dauer ihres Schritts",
        "next": "Pausen stecken in der Zeit, die danach ausgegeben wird",
        "none": "Pausen stecken in keiner ausgegebenen Zeit",
        "smoothed": "Pausen sind über viele Werte verschmiert",
    }

    def show_files(self, first: str, num_others: int) -> str:
        return f"{first} und {self.number(num_others)} weitere"

    def show_run(self, facts: RunFacts) -> str:
        steps = f"Schritte {self.number(facts.first_step)} bis {self.number(facts.last_step)}"
        logged = "alle im Log" if facts.every == 1 else f"jeder {self.number(facts.every)}. im Log"
        again = ""
        if facts.num_restarts:
            plural = "" if facts.num_restarts == 1 else "s"
            again = f", {self.number(facts.num_restarts)} Neustart{plural}"
        if facts.num_runs > 1:
            again = f", {self.number(facts.num_runs)} Läufe{again}"
        return f"{steps}, {logged}{again}; Gesamtzeit {self.seconds(facts.wall_s)}"

    def show_ordinary(self, seconds: float, spread_s: float) -> Around:
        spread = f" \N{PLUS-MINUS SIGN} {self.seconds(spread_s)}" if spread_s else ""
        return Around("ein normaler Schritt dauert ", self.seconds(seconds), spread)

    def show_rhythm(self, period: int, longer: float) -> str:
        return (
            f"jeder {self.number(period)}. dauert {self.percent(longer)} länger: "
            "der eigene Takt der Trainingsschleife"
        )

    def show_nothing(self, share: float) -> Around:
        least = f"{self.number(100 * share)}\u00a0%"
        return Around("", "Hier ist nichts zu holen", f": Keine Pause kostet {least} der Zeit.")

    def show_verdict(
        self, share: float, is_of_wall: bool, confidence: Confidence, rung: str
    ) -> str:
        of_wall = " der Gesamtzeit" if is_of_wall else ""
        told = "" if confidence == "low" else f" ({self.rungs[rung]})"
        return f"{self.percent(share)}{of_wall}, {self.labels[confidence]}{told}."

    def show_remedy(self, remedy: str) -> str:
        return f" Abhilfe: {remedy}."

    def show_saving(self, seconds: float) -> str:
        return f"spart bis zu {self.seconds(seconds)}"

    def show_alternative(self, what: str, how: str) -> str:
        return " ".join(ended([f"Auch möglich: {what}", f"Zur Prüfung: {how}"]))

    def show_more(self, count: int) -> str:
        if count == 1:
            return "und 1 weiterer (alle mit --json)"
        return f"und {self.number(count)} weitere (alle mit --json)"

    def show_line(self, number: int) -> str:
        return f"Zeile {number}: "

    def show_gaps(self, sentences: Sequence[str]) -> str:
        return "Nicht bekannt: " + " ".join(ended(sentences))

    def show_next(self, command: str) -> Around:
        return Around("weiter: ", command, "   alle Abschnitte, für Programme")

    def show_waiting(self, name: str) -> str:
        return f"wartet auf {name}"

    def show_nothing_yet(self, reason: str) -> str:
        return f"noch nichts zu zeigen: {reason}"
