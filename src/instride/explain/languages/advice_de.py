"""German: sentences of the newer causes, and advice."""

from __future__ import annotations

from instride.explain.languages.causes_de import GermanCauses
from instride.explain.languages.facts import Facts, count_of, number_of

NO_LINE = "keine Zeile sagt es"


class GermanAdvice(GermanCauses):
    def say_first_eval(self, f: Facts, cost_s: float) -> str:
        return (
            f"Die erste Evaluierung (Schritt {f['step']}) dauerte "
            f"{self.seconds(number_of(f, 'first_s'))}, andere dauern "
            f"{self.seconds(number_of(f, 'usual_s'))}: so sieht es aus, wenn etwas zum ersten Mal "
            "kompiliert oder geladen wird."
        )

    def say_cleanup(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"Das Löschen alter Checkpoints bei Schritt {f['step']} hielt das Training "
                f"{self.seconds(cost_s)} lang an."
            )
        every = f" (alle {self.number(number_of(f, 'every'))} Schritte)" if f["every"] else ""
        return (
            f"{self._often(count_of(f, 'count'))}{every} stand das Training still, während alte "
            f"Checkpoints gelöscht wurden, je {self.each(f, cost_s)}, "
            f"insgesamt {self.seconds(cost_s)}."
        )

    def say_growing_saves(self, f: Facts, cost_s: float) -> str:
        return (
            f"Das Speichern dauert immer länger: {self.seconds(number_of(f, 'first_s'))} bei "
            f"Schritt {f['first_step']}, {self.seconds(number_of(f, 'last_s'))} bei Schritt "
            f"{f['last_step']}; diese Zunahme kostet {self.seconds(cost_s)}."
        )

    def say_slow_filesystem(self, f: Facts, cost_s: float) -> str:
        gigabytes, megabytes_s = number_of(f, "bytes") / 1e9, number_of(f, "bytes_s") / 1e6
        return (
            f"{self.number(gigabytes, 1)}\u00a0GB wurden mit {self.number(megabytes_s)}\u00a0MB/s "
            f"gespeichert; mit 100\u00a0MB/s hätte das {self.seconds(cost_s)} weniger gedauert."
        )

    def say_recompilation(self, f: Facts, cost_s: float) -> str:
        count = count_of(f, "count")
        if f["marked"]:
            when = f"Bei Schritt {f['step']}"
            if count > 1:
                when = f"{self._often(count)}, am längsten bei Schritt {f['step']},"
            return (
                f"{when} wurde mitten im Lauf etwas kompiliert, und das Training wartete, "
                f"insgesamt {self.seconds(cost_s)}."
            )
        what = f"Schritt {f['step']} dauerte"
        if count > 1:
            what = f"{self.number(count)} Schritte dauerten"
        return (
            f"{what} direkt nach den ersten Evaluierungen {self.seconds(cost_s)} länger, nach "
            f"späteren keiner mehr: so sieht Kompilieren aus; {NO_LINE}."
        )

    def say_epoch_stalls(self, f: Facts, cost_s: float) -> str:
        return (
            f"In {f['count']} von {f['epochs']} Epochen dauerte der erste Schritt "
            f"{self.each(f, cost_s)} länger, insgesamt {self.seconds(cost_s)}: "
            "der Loader startet anscheinend jedes Mal neu."
        )

    def say_worker_turns(self, f: Facts, cost_s: float) -> str:
        times = (
            f"{self._often(count_of(f, 'count'))} {self.each(f, cost_s)}, "
            f"insgesamt {self.seconds(cost_s)}"
        )
        shape = f"so sieht ein Loader aus, dessen {f['period']} Worker nicht nachkommen"
        if f["stated"]:
            return f"Jeder {f['period']}. Schritt wartet auf Daten ({times}): {shape}."
        return (
            f"Jeder {f['period']}. Schritt dauert {self._fold(f)} lange ({times}): {shape}; "
            f"{NO_LINE}."
        )

    def say_shard_switches(self, f: Facts, cost_s: float) -> str:
        return (
            f"Alle {f['least']} bis {f['most']} Schritte dauert einer {self._fold(f)} lange "
            f"({self._often(count_of(f, 'count'))} {self.each(f, cost_s)}, "
            f"insgesamt {self.seconds(cost_s)}): fast gleiche Abstände sehen nach dem Wechsel zur "
            "nächsten Datendatei aus."
        )

    def say_crash_loop(self, f: Facts, cost_s: float) -> str:
        return (
            f"{f['launches']} Starts hintereinander trainierten keinen neuen Schritt und dauerten "
            f"{self.seconds(cost_s)}."
        )

    def say_collector_pauses(self, f: Facts, cost_s: float) -> str:
        return (
            f"{self.number(count_of(f, 'count'))} einzelne Schritte in ungleichen Abständen "
            f"dauerten rund {self.seconds(number_of(f, 'typical_s'))} länger, insgesamt "
            f"{self.seconds(cost_s)}: so sieht Garbage Collection oder ein aufräumender Allokator "
            f"aus; {NO_LINE}."
        )

    def say_allocator_flushes(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"Schritt {f['step']} dauerte {self.seconds(cost_s)} länger, und laut Log musste "
                "der Allokator dabei seinen Zwischenspeicher freigeben."
            )
        return (
            f"{self._often(count_of(f, 'count'))} musste der Allokator laut Log seinen "
            f"Zwischenspeicher freigeben, und dort dauerten Schritte {self.each(f, cost_s)} "
            f"länger, insgesamt {self.seconds(cost_s)}."
        )

    def say_drift(self, f: Facts, cost_s: float) -> str:
        levels = (
            f"von {self.seconds(number_of(f, 'before_s'))} auf "
            f"{self.seconds(number_of(f, 'after_s'))}"
        )
        cost = f"das kostet {self.seconds(cost_s)}, falls es nicht gewollt war"
        if f["plateau"]:
            return (
                f"Ab Schritt {f['first_step']} wurden die Schritte nach und nach langsamer, "
                f"{levels}, und blieben dann so; {cost}."
            )
        return (
            f"Von Schritt {f['first_step']} bis {f['last_step']} wurden die Schritte immer "
            f"langsamer, {levels}; {cost}."
        )

    def say_hidden_time(self, f: Facts, cost_s: float) -> str:
        hidden = (
            f"{self.seconds(cost_s)} der Gesamtzeit stecken in keiner Schrittdauer, die das Log "
            "ausgibt"
        )
        if f["everywhere"]:
            return f"{hidden}: fast jeder Schritt dauert länger, als dort steht."
        often = self._often(count_of(f, "count"))
        typical = self.seconds(number_of(f, "typical_s"))
        where = " bei Evaluierungen oder beim Speichern" if f["marked"] else ", wofür, sagt nichts"
        return f"{hidden}: {often} {typical}{where}."

    def advice_eval_interval(self, f: Facts) -> str:
        return self._interval(f, "Eine Evaluierung")

    def advice_save_interval(self, f: Facts) -> str:
        return self._interval(f, "Einmal Speichern")

    def _interval(self, f: Facts, noun: str) -> str:
        noun = "Eine Pause für Evaluierung und Speichern" if f["joint"] else noun
        now = f"{noun} kostet {self._cost(f)}"
        if f["every"] is not None:
            now += (
                f"; alle {self.number(number_of(f, 'every'))} Schritte sind das "
                f"{self.percent(number_of(f, 'share'))} der Zeit"
            )
        steps, target = self.number(number_of(f, "steps")), self.percent(number_of(f, "target"))
        if f["beyond"]:
            instead = f": besser {self.cures[str(f['instead'])]}" if f["instead"] else ""
            return f"{now}. Erst alle {steps} Schritte wären es weniger als {target}{instead}."
        both = ""
        if f["setting"]:
            both = (
                f" `{f['setting']}` bestimmt beides: Auch gespeichert wird dann seltener, und ein "
                "Absturz kostet mehr Arbeit."
            )
        return f"{now}. Alle {steps} Schritte sind es weniger als {target}.{both}"

    def _cost(self, f: Facts) -> str:
        cost_s, blocking_s = number_of(f, "cost_s"), number_of(f, "blocking_s")
        cost = ("im Schnitt " if count_of(f, "count") > 1 else "") + self.seconds(cost_s)
        if cost_s <= 1.02 * blocking_s:
            return cost
        return f"{cost} (davon {self.seconds(cost_s - blocking_s)} in den Schritten danach)"

    def advice_save_by_failures(self, f: Facts) -> str:
        restarts = count_of(f, "restarts")
        mtbf = f"Bei einem Ausfall alle {self.seconds(number_of(f, 'mtbf_s'))}"
        if restarts:
            seen = "dem einen Neustart" if restarts == 1 else f"den {restarts} Neustarts"
            mtbf += f" (geschätzt aus {seen} in diesem Log)"
        what = "für Evaluierung und Speichern" if f["joint"] else "je Speichern"
        best = (
            f"{mtbf} und {self._cost(f)} {what} geht am wenigsten verloren, wenn alle "
            f"{self.seconds(number_of(f, 'daly_s'))} gespeichert wird "
            f"({self.number(number_of(f, 'steps'))} Schritte; Young/Daly)"
        )
        if f["keep"]:
            return f"{best}: etwa so ist es eingestellt."
        both = ""
        if f["setting"]:
            both = f" `{f['setting']}` bestimmt beides: Evaluiert wird dann ebenso oft."
        share = f"{self.percent(number_of(f, 'best_share'))} der Zeit"
        if f["every"] is None:
            return f"{best}: {share}.{both}"
        return (
            f"{best}: {share} statt {self.percent(number_of(f, 'share'))} wie jetzt, alle "
            f"{self.number(number_of(f, 'every'))} Schritte.{both}"
        )
