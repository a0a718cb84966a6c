"""French: the terminal. No-break spaces are written out, narrow ones before `;` and `%`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from instride.explain.languages.screen import Around, RunFacts, ScreenWords, ended
from instride.explain.report import Confidence


class FrenchScreen(ScreenWords):
    letters: ClassVar = "àâçèéêîôùûÀÉ"
    table_heads: ClassVar[Mapping[str, str]] = {
        "time": "durée",
        "share": "part",
        "steps": "étapes",
        "typical": "typique",
        "worst": "maximum",
    }
    screen_phrases: ClassVar[Mapping[str, str]] = {
        "where": "Où est passé le temps",
        "stdin": "entrée standard",
        "joint": "éval. + sauveg.",
        "typical": "typique\u00a0: médiane par étape (calcul) ou pause",
        "twice": "\u202f; une étape peut compter double",
        "picture": "Durée des étapes au fil de l'entraînement",
        "findings": "Constats",
        "order": ", du plus coûteux au moins coûteux",
        "advice": "Réglages conseillés",
        "between": "entre les processus, hors des parts",
        "following": "suivi en cours\u202f; Ctrl+C pour arrêter",
        "others": "Autres formats\u00a0: instride explain LOG les devine.",
        "describe": "S'il se trompe, indiquez à quoi ressemble une étape\u00a0:",
    }
    sampling_labels: ClassVar[Mapping[str, str]] = {
        "every step": "durée de chaque étape",
        "every k-th step": "durée d'une étape sur k",
        "average over k steps": "moyenne sur k étapes",
        "running total": "cumul",
        "totals only": "totaux seulement",
    }
    pause_labels: ClassVar[Mapping[str, str]] = {
        "same": "une pause compte dans la durée de son étape",
        "next": "une pause compte dans la durée affichée ensuite",
        "none": "une pause ne compte dans aucune durée affichée",
        "smoothed": "une pause est étalée sur plusieurs valeurs",
    }

    def show_files(self, first: str, num_others: int) -> str:
        return f"{first} et {self.number(num_others)} autre{_s(num_others)}"

    def show_run(self, facts: RunFacts) -> str:
        steps = f"étapes {self.number(facts.first_step)} à {self.number(facts.last_step)}"
        logged = "toutes journalisées"
        if facts.every > 1:
            logged = f"une sur {self.number(facts.every)} journalisée"
        again = ""
        if facts.num_restarts:
            number = facts.num_restarts
            again = f", {self.number(number)} redémarrage{_s(number)}"
        if facts.num_runs > 1:
            again = f", {self.number(facts.num_runs)} entraînements{again}"
        return f"{steps}, {logged}{again}\u202f; {self.seconds(facts.wall_s)} en tout"

    def show_ordinary(self, seconds: float, spread_s: float) -> Around:
        spread = f" \N{PLUS-MINUS SIGN} {self.seconds(spread_s)}" if spread_s else ""
        return Around("une étape normale dure ", self.seconds(seconds), spread)

    def show_rhythm(self, period: int, longer: float) -> str:
        return (
            f"une sur {self.number(period)} dure {self.percent(longer)} de plus\u00a0: "
            "c'est le rythme propre de la boucle"
        )

    def show_nothing(self, share: float) -> Around:
        least = f"{self.number(100 * share)}\u202f%"
        return Around("", "Rien à gagner ici", f"\u00a0: aucune pause ne coûte {least} du temps.")

    def show_verdict(
        self, share: float, is_of_wall: bool, confidence: Confidence, rung: str
    ) -> str:
        of_wall = " de la durée totale" if is_of_wall else ""
        told = "" if confidence == "low" else f" ({self.rungs[rung]})"
        return f"{self.percent(share)}{of_wall}, {self.labels[confidence]}{told}."

    def show_remedy(self, remedy: str) -> str:
        return f" À essayer\u00a0: {remedy}."

    def show_saving(self, seconds: float) -> str:
        return f"jusqu'à {self.seconds(seconds)} de gain"

    def show_alternative(self, what: str, how: str) -> str:
        other = f"Autre possibilité\u00a0: {what}"
        return " ".join(ended([other, f"Pour vérifier\u00a0: {how}"]))

    def show_more(self, count: int) -> str:
        return f"et {self.number(count)} autre{_s(count)} (tous avec --json)"

    def show_line(self, number: int) -> str:
        return f"ligne {number}\u00a0: "

    def show_gaps(self, sentences: Sequence[str]) -> str:
        return "Reste inconnu\u00a0: " + " ".join(ended(sentences))

    def show_next(self, command: str) -> Around:
        return Around("ensuite\u00a0: ", command, "   tous les intervalles en JSON")

    def show_times(self, sampling: str, pauses: str) -> str:
        return f"{self.sampling_labels[sampling]}\u202f; {self.pause_labels[pauses]}"

    def show_waiting(self, name: str) -> str:
        return f"en attente de {name}"

    def show_nothing_yet(self, reason: str) -> str:
        return f"rien à montrer pour l'instant\u00a0: {reason}"


def _s(count: int) -> str:
    return "s" if count > 1 else ""
