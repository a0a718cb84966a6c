"""German."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.advice_de import GermanAdvice
from instride.explain.languages.facts import Facts, count_of, is_uneven, number_of, times_the_save

MULTIPLES = {
    2: "doppelt",
    3: "dreimal",
    4: "viermal",
    5: "fünfmal",
    6: "sechsmal",
    7: "siebenmal",
    8: "achtmal",
    9: "neunmal",
    10: "zehnmal",
}
NO_REASON = "keine Zeile sagt, warum"


class German(GermanAdvice):
    code: ClassVar = "de"
    labels: ClassVar[Mapping[str, str]] = {
        "compute": "Rechnen",
        "warmup": "Anlaufphase",
        "eval": "Evaluierung",
        "save": "Speichern",
        "aftermath": "nach Speichern",
        "data": "Daten",
        "startup": "Start",
        "restart": "Stillstand",
        "lost": "verloren",
        "unknown": "unklar",
        "high": "sicher",
        "medium": "wahrscheinlich",
        "low": "nur aus dem Verlauf vermutet",
    }

    def _every(self, f: Facts) -> str:
        return f" (alle {self.number(number_of(f, 'every'))} Schritte)" if f["every"] else ""

    def say_eval(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "Die Evaluierung", "Evaluierungen")

    def say_save(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "Das Speichern", "Speichervorgänge")

    def say_eval_and_save(self, f: Facts, cost_s: float) -> str:
        both = "für Evaluierung und Speichern"
        return self._pauses(f, cost_s, f"Die Pause {both}", f"Pausen {both}")

    def _pauses(self, f: Facts, cost_s: float, one: str, many: str) -> str:
        guess = ""
        if f["count"] == 1:
            if f["inferred"]:
                guess = ", erkannt nur am gleichen Abstand wie bei den markierten"
            return (
                f"{one} bei Schritt {f['first_step']} hielt das Training {self.seconds(cost_s)} "
                f"lang an{guess}."
            )
        if f["inferred"]:
            guess = "; nicht alle sind markiert, die übrigen haben den gleichen Abstand"
        worst = ""
        if is_uneven(f):
            worst_s = self.seconds(number_of(f, "worst_s"))
            worst = f"; am längsten bei Schritt {f['worst_step']}: {worst_s}"
        return (
            f"{self.number(count_of(f, 'count'))} {many}{self._every(f)} hielten das Training "
            f"{'im Schnitt ' if worst else ''}je {self.seconds(number_of(f, 'average_s'))} lang "
            f"an, insgesamt {self.seconds(cost_s)}{worst}{guess}."
        )

    def say_closing_save(self, f: Facts, cost_s: float) -> str:
        return (
            f"Das Speichern nach dem letzten Schritt ({f['step']}) dauerte {self.seconds(cost_s)}."
        )

    def say_closing_eval(self, f: Facts, cost_s: float) -> str:
        return (
            f"Die Evaluierung nach dem letzten Schritt ({f['step']}) dauerte "
            f"{self.seconds(cost_s)}."
        )

    def say_closing_eval_and_save(self, f: Facts, cost_s: float) -> str:
        return (
            f"Evaluierung und Speichern nach dem letzten Schritt ({f['step']}) dauerten zusammen "
            f"{self.seconds(cost_s)}."
        )

    def say_closing_unknown(self, f: Facts, cost_s: float) -> str:
        return (
            f"Nach dem letzten Schritt ({f['step']}) läuft das Log noch {self.seconds(cost_s)} "
            "weiter und sagt nicht, womit."
        )

    def say_aftermath(self, f: Facts, cost_s: float) -> str:
        steps, fold = count_of(f, "steps"), self._fold(f)
        times = times_the_save(f)
        compared = ""
        if times is not None:
            multiple = MULTIPLES.get(times, f"{self.number(times)}-mal")
            compared = f", {multiple} so viel wie das Speichern selbst"
        if f["count"] == 1:
            stop = "kostete selbst wenig"
            if f["save_s"]:
                stop = f"hielt das Training {self.seconds(number_of(f, 'save_s'))} lang an"
            after = f"die {self.number(steps)} Schritte danach dauerten {fold} lange und kosteten"
            if steps == 1:
                after = f"der Schritt danach dauerte {fold} lange und kostete"
            return (
                f"Das Speichern bei Schritt {f['save_step']} {stop}; {after} "
                f"{self.seconds(cost_s)} zusätzlich{compared}."
            )
        after = f"dauerten rund {self.number(steps)} Schritte"
        if steps == 1:
            after = "dauerte etwa ein Schritt"
        count, saves = self.number(count_of(f, "count")), self.number(count_of(f, "saves"))
        which = f"jedem von {count}" if count == saves else f"{count} von {saves}"
        return (
            f"Nach {which} Speichervorgängen {after} {fold} lange: je Speichern "
            f"{self.seconds(number_of(f, 'average_s'))} mehr, insgesamt "
            f"{self.seconds(cost_s)}{compared}."
        )

    def say_warmup(self, f: Facts, cost_s: float) -> str:
        why = "Kompilieren, Füllen der Caches"
        longer = f"{self.seconds(cost_s)} länger als üblich"
        if f["starts"] == 1 and f["steps"] == 1:
            return f"Der erste Schritt dauerte {longer} ({self._fold(f)} lange): {why}."
        if f["starts"] == 1:
            return (
                f"Die ersten {self.number(count_of(f, 'steps'))} Schritte dauerten insgesamt "
                f"{longer} (bis zu {self._fold(f)} lange): {why}."
            )
        return (
            f"Nach jedem von {f['starts']} Starts dauerten die ersten Schritte länger als üblich, "
            f"insgesamt {self.seconds(cost_s)}."
        )

    def say_data_stalls(self, f: Facts, cost_s: float) -> str:
        count = count_of(f, "count")
        if count == 1:
            return f"Einmal wartete das Training auf Daten, {self.seconds(cost_s)} lang."
        return (
            f"{self._often(count)}{self._every(f)} wartete das Training auf Daten, je "
            f"{self.each(f, cost_s)}, insgesamt {self.seconds(cost_s)}."
        )

    def say_data_chronic(self, f: Facts, cost_s: float) -> str:
        return (
            f"Ein Schritt wartet im Schnitt {self.seconds(number_of(f, 'wait_s'))} seiner "
            f"{self.seconds(number_of(f, 'step_s'))} auf Daten, insgesamt {self.seconds(cost_s)}."
        )

    def say_startup(self, f: Facts, cost_s: float) -> str:
        begin = "Vom letzten Start" if f["failed"] else "Von der ersten Zeile"
        return f"{begin} bis zum ersten Schritt vergingen {self.seconds(cost_s)}."

    def say_restart(self, f: Facts, cost_s: float) -> str:
        begin = "dem Neubeginn" if f["anew"] else "der Fortsetzung"
        where = f"Schritt {f['last_step']} und {begin} bei Schritt {f['resumed_at']}"
        if f["count"] == 1:
            launches = ""
            if number_of(f, "launches") > 1:
                launches = f", bei {f['launches']} Programmstarts"
            return f"Zwischen {where} wurde {self.seconds(cost_s)} lang nicht trainiert{launches}."
        return (
            f"{f['count']} Neustarts: Insgesamt wurde {self.seconds(cost_s)} lang nicht trainiert, "
            f"am längsten ({self.seconds(number_of(f, 'worst_s'))}) zwischen {where}."
        )

    def say_never_again(self, f: Facts, cost_s: float) -> str:
        return (
            f"Nach Schritt {f['last_step']} wurde das Programm noch "
            f"{self._often(count_of(f, 'launches'))} gestartet, trainierte aber in "
            f"{self.seconds(cost_s)} keinen Schritt mehr."
        )

    def say_failed_launches(self, f: Facts, cost_s: float) -> str:
        return (
            f"Bis zu dem Start, der den ersten Schritt ({f['first_step']}) trainierte, wurde das "
            f"Programm {self._often(count_of(f, 'launches'))} vergeblich gestartet, insgesamt "
            f"{self.seconds(cost_s)}."
        )

    def say_lost(self, f: Facts, cost_s: float) -> str:
        steps = count_of(f, "steps")
        again = f"nach Schritt {f['last_step']} ging es bei Schritt {f['resumed_at']} weiter"
        if f["from_scratch"]:
            again = f"nach Schritt {f['last_step']} begann das Training von vorn"
        cost = f"Die Wiederholung kostet {self.seconds(cost_s)}."
        if f["count"] == 1:
            lost = f"{self.number(steps)} Schritte gingen verloren"
            if steps == 1:
                lost = "1 Schritt ging verloren"
            return f"{lost}, denn {again}. {cost}"
        return (
            f"Bei {f['count']} Neustarts gingen {self.number(steps)} Schritte verloren, bis zu "
            f"{f['worst_steps']} auf einmal ({again}). {cost}"
        )

    def say_periodic(self, f: Facts, cost_s: float) -> str:
        to = f" oder {f['to_period']}" if f["to_period"] != f["period"] else ""
        named = f", aber `{f['setting']}` ist so eingestellt" if f["setting"] else ""
        return (
            f"Alle {f['period']}{to} Schritte dauert einer {self._fold(f)} lange "
            f"({self._often(count_of(f, 'count'))} {self.each(f, cost_s)}, "
            f"insgesamt {self.seconds(cost_s)}); {NO_REASON}{named}."
        )

    def say_slow_zone(self, f: Facts, cost_s: float) -> str:
        where = f"Schritte {f['first_step']} bis {f['last_step']}"
        if f["count"] == 1:
            return (
                f"Die {where} dauerten {self._fold(f)} lange und kosteten "
                f"{self.seconds(cost_s)} zusätzlich; {NO_REASON}."
            )
        return (
            f"{self.number(count_of(f, 'count'))} Abschnitte liefen ohne erkennbaren Grund "
            f"langsamer und kosteten {self.seconds(cost_s)} zusätzlich; am schlimmsten waren die "
            f"{where}, {self._fold(f)} lang."
        )

    def say_slow_steps(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"Schritt {f['last_step']} dauerte {self._fold(f)} lange wie üblich, "
                f"{self.seconds(cost_s)} mehr; {NO_REASON}."
            )
        return (
            f"{self.number(count_of(f, 'count'))} einzelne Schritte waren ohne erkennbaren Grund "
            f"langsam, insgesamt {self.seconds(cost_s)}; am schlimmsten war Schritt "
            f"{f['last_step']} mit {self.seconds(number_of(f, 'worst_s'))} mehr."
        )

    def say_slower_since(self, f: Facts, cost_s: float) -> str:
        return self._speed(f, cost_s, "dauern Schritte", "lange", "danach")

    def say_slower_since_resume(self, f: Facts, cost_s: float) -> str:
        return self.say_slower_since(f, cost_s)

    def say_faster_since(self, f: Facts, cost_s: float) -> str:
        return self._speed(f, cost_s, "laufen Schritte", "schnell", "davor")

    def _speed(self, f: Facts, cost_s: float, run: str, how: str, slow_part: str) -> str:
        since = "Seit der Fortsetzung bei" if f["resumed"] else "Ab"
        return (
            f"{since} Schritt {f['step']} {run} {self._fold(f)} {how} "
            f"(erst {self.seconds(number_of(f, 'before_s'))}, dann "
            f"{self.seconds(number_of(f, 'after_s'))}); der langsame Teil {slow_part} kostet "
            f"{self.seconds(cost_s)}, falls das nicht gewollt war."
        )

    def unknown_sampled(self, f: Facts) -> str:
        return (
            f"Nur jeder {self.number(count_of(f, 'every'))}. Schritt steht im Log: "
            f"{self.percent(number_of(f, 'share'))} der Schritte sind geschätzt."
        )

    def unknown_averaged(self, f: Facts) -> str:
        return (
            f"Die Zeiten sind Mittelwerte über {f['every']} Schritte: einzelne langsame Schritte "
            "sind nicht zu sehen."
        )

    def unknown_totals_only(self, f: Facts) -> str:
        return (
            "Das Log enthält nur Gesamtzeiten, keine Zeit pro Schritt: langsame Schritte sind "
            "nicht zu sehen."
        )

    def unknown_coarse_clock(self, f: Facts) -> str:
        return (
            f"Die Uhr ist nur auf {self.seconds(number_of(f, 'seconds'))} genau: kurze Pausen "
            "sind nicht zu sehen."
        )

    def unknown_hidden(self, f: Facts) -> str:
        parts = []
        if evals := count_of(f, "evals"):
            many = f"von {self.number(evals)} Evaluierungen"
            parts.append("einer Evaluierung" if evals == 1 else many)
        if saves := count_of(f, "saves"):
            many = f"von {self.number(saves)} Speichervorgängen"
            parts.append("eines Speichervorgangs" if saves == 1 else many)
        return (
            f"Die Dauer {' und '.join(parts)} steckt in keiner Zahl dieses Logs, und "
            "seine Schritte haben keine Zeitstempel: was das kostet, bleibt offen."
        )

    def unknown_joint(self, f: Facts) -> str:
        return "Evaluierung und Speichern liegen in einer Pause, und das Log trennt sie nicht."

    def unknown_rough_split(self, f: Facts) -> str:
        return (
            "Evaluierung und Speichern teilen sich Pausen; die Aufteilung stützt sich nur auf die "
            f"erste Evaluierung (Schritt {f['step']}), in der auch das Anlaufen steckt: Speichern "
            "kostet womöglich mehr."
        )

    def unknown_clock_backwards(self, f: Facts) -> str:
        where = "in Zeile" if f["count"] == 1 else "zuerst in Zeile"
        return (
            f"Die Uhr springt {self._often(count_of(f, 'count'))} zurück ({where} {f['line']}): "
            "es gelten die ausgegebenen Zeiten."
        )

    def unknown_gaps(self, f: Facts) -> str:
        return "Wie lange zwischen den Prozessen nichts lief: das Log hat keine gemeinsame Uhr."

    def unknown_unused_save(self, f: Facts) -> str:
        saved = "" if f["saved_step"] is None else f" von Schritt {f['saved_step']}"
        return (
            f"Nach Schritt {f['last_step']} begann das Training neu bei Schritt {f['first_step']}, "
            f"obwohl es einen gespeicherten Stand{saved} gab: als anderes Training gezählt. Sollte "
            "es von dort weitergehen, sind die Schritte davor verloren."
        )

    def unknown_ranks(self, f: Facts) -> str:
        return (
            "Mehrere Ranks geben dieselben Schritte aus: "
            f"{self.number(count_of(f, 'count'))} wurden weggelassen."
        )

    remedies: ClassVar[Mapping[str, str]] = {
        "eval": "seltener oder auf weniger Batches evaluieren",
        "save": "im Hintergrund oder seltener speichern",
        "eval-and-save": "seltener evaluieren und speichern; beides getrennt messen, um zu sehen, "
        "was davon teuer ist",
        "closing-save": "auf eine schnellere Platte oder im Hintergrund speichern",
        "closing-eval": "auf weniger Batches evaluieren",
        "closing-eval-and-save": "beides getrennt messen, um zu sehen, was davon teuer ist",
        "failed-launches": "die letzte Fehlermeldung vor dem gelungenen Start lesen",
        "never-again": "die letzte Fehlermeldung im Log lesen",
        "closing-unknown": "vor und nach dem, was am Ende geschieht, eine Zeile ausgeben",
        "aftermath": "dem, was den Checkpoint weiterverarbeitet (Komprimieren, Hochladen), die "
        "niedrigste Priorität geben oder es bis zum Ende des Trainings warten lassen",
        "warmup": "den Compile-Cache zwischen Läufen behalten",
        "data-stalls": "Loader-Worker am Leben halten und vorausladen",
        "data-chronic": "mehr Loader-Worker, billigeres Dekodieren, eine schnellere Platte",
        "startup": "zwischenspeichern, was der Start vorbereitet (tokenisierte Daten, "
        "kompilierter Code)",
        "restart": "automatisch fortsetzen, wenn ein Prozess endet",
        "lost": "öfter speichern, oder wenn der Prozess beendet werden soll",
        "periodic": "protokollieren, was die Schleife bei diesen Schritten tut; mit den "
        "eingestellten Intervallen vergleichen",
        "slow-zone": "CPU, Platte und GPU-Takt beobachten, während es geschieht",
        "slow-steps": "CPU, Platte und GPU-Takt beobachten, während es geschieht",
        "slower-since": "Batchgröße, Sequenzlänge und andere Jobs vorher und nachher vergleichen",
        "faster-since": "Batchgröße, Sequenzlänge und andere Jobs vorher und nachher vergleichen",
    }
