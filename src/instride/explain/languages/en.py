"""English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.advice_en import EnglishAdvice
from instride.explain.languages.facts import (
    Facts,
    count_of,
    is_uneven,
    number_of,
    times_the_save,
)
from instride.explain.languages.numbers import ordinal

TIMES = ("", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class English(EnglishAdvice):
    code: ClassVar = "en"
    labels: ClassVar[Mapping[str, str]] = {
        "compute": "compute",
        "warmup": "warm-up",
        "eval": "evaluation",
        "save": "saving",
        "aftermath": "after saves",
        "data": "data",
        "startup": "start-up",
        "restart": "not running",
        "lost": "lost work",
        "unknown": "unknown",
        "high": "sure",
        "medium": "likely",
        "low": "a guess by shape",
    }

    def say_eval(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "evaluation")

    def say_save(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "save")

    def say_eval_and_save(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "pause for evaluation and save")

    def _pauses(self, f: Facts, cost_s: float, noun: str) -> str:
        count = count_of(f, "count")
        if count == 1:
            guess = ", judging by the same distance as the marked ones" if f["inferred"] else ""
            return (
                f"The {noun} at step {f['first_step']} stopped training for "
                f"{self.seconds(cost_s)}{guess}."
            )
        every = f" (every {f['every']} steps)" if f["every"] else ""
        worst = ""
        if is_uneven(f):
            worst = (
                f"; the longest, at step {f['worst_step']}, {self.seconds(number_of(f, 'worst_s'))}"
            )
        plural = noun.replace("pause ", "pauses ") if " " in noun else noun + "s"
        each = "on average" if worst else "each"
        guess = (
            "; not all are marked, the others come at the same distance" if f["inferred"] else ""
        )
        return (
            f"{self.number(count)} {plural}{every} stopped training for "
            f"{self.seconds(number_of(f, 'average_s'))} {each}, {self.seconds(cost_s)} in all"
            f"{worst}{guess}."
        )

    def say_closing_save(self, f: Facts, cost_s: float) -> str:
        return f"The save after the last step ({f['step']}) took {self.seconds(cost_s)}."

    def say_closing_eval(self, f: Facts, cost_s: float) -> str:
        return f"The evaluation after the last step ({f['step']}) took {self.seconds(cost_s)}."

    def say_closing_eval_and_save(self, f: Facts, cost_s: float) -> str:
        return (
            f"The evaluation and the save after the last step ({f['step']}) took "
            f"{self.seconds(cost_s)} together."
        )

    def say_closing_unknown(self, f: Facts, cost_s: float) -> str:
        return (
            f"The log goes on for {self.seconds(cost_s)} after the last step ({f['step']}) "
            "and does not say with what."
        )

    def say_aftermath(self, f: Facts, cost_s: float) -> str:
        times = self._times_save(f)
        factor, steps = self.factor(number_of(f, "factor")), count_of(f, "steps")
        if f["count"] == 1:
            which = "step" if steps == 1 else f"{self.number(steps)} steps"
            if f["save_s"]:
                stop = f" stopped training for {self.seconds(number_of(f, 'save_s'))};"
            else:
                stop = " itself cost little;"
            return (
                f"The save at step {f['save_step']}{stop} the {which} after it ran "
                f"{factor} slower and cost {self.seconds(cost_s)} more{times}."
            )
        count, saves = self.number(number_of(f, "count")), self.number(number_of(f, "saves"))
        after = (
            f"After each of {count} saves" if count == saves else f"After {count} of {saves} saves"
        )
        which = "about one step" if steps == 1 else f"some {self.number(steps)} steps"
        return (
            f"{after} {which} ran {factor} slower, {self.seconds(number_of(f, 'average_s'))} per "
            f"save, {self.seconds(cost_s)} in all{times}."
        )

    def _times_save(self, f: Facts) -> str:
        times = times_the_save(f)
        if times is None:
            return ""
        word = TIMES[times] if times < len(TIMES) else self.number(times)
        noun = "save itself" if f["count"] == 1 else "saves themselves"
        return f", {word} times the {noun}"

    def say_warmup(self, f: Facts, cost_s: float) -> str:
        if f["starts"] == 1:
            what = "The first step" if f["steps"] == 1 else f"The first {f['steps']} steps"
            return (
                f"{what} took {self.seconds(cost_s)} longer than usual "
                f"(up to {self.factor(number_of(f, 'factor'))}): compiling, filling caches."
            )
        return (
            f"The first steps after each of {f['starts']} starts took longer than usual, "
            f"{self.seconds(cost_s)} in all."
        )

    def say_data_stalls(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return f"Once training waited for data, {self.seconds(cost_s)}."
        every = f" (every {f['every']} steps)" if f["every"] else ""
        return (
            f"{self.number(number_of(f, 'count'))} times{every} training waited for data, "
            f"{self.each(f, cost_s)} each, {self.seconds(cost_s)} in all."
        )

    def say_data_chronic(self, f: Facts, cost_s: float) -> str:
        return (
            f"On average a step waits {self.seconds(number_of(f, 'wait_s'))} of its "
            f"{self.seconds(number_of(f, 'step_s'))} for data, {self.seconds(cost_s)} in all."
        )

    def say_startup(self, f: Facts, cost_s: float) -> str:
        begin = "the last launch" if f["failed"] else "the first line"
        return f"It took {self.seconds(cost_s)} from {begin} to the first step."

    def say_restart(self, f: Facts, cost_s: float) -> str:
        begin = "new start" if f["anew"] else "resume"
        where = f"between step {f['last_step']} and the {begin} at step {f['resumed_at']}"
        if f["count"] == 1:
            launches = f", in {f['launches']} launches," if number_of(f, "launches") > 1 else ""
            return f"Nothing was trained for {self.seconds(cost_s)}{launches} {where}."
        return (
            f"{f['count']} restarts: nothing was trained for {self.seconds(cost_s)} in all, the "
            f"longest time ({self.seconds(number_of(f, 'worst_s'))}) {where}."
        )

    def say_never_again(self, f: Facts, cost_s: float) -> str:
        launches = "once" if f["launches"] == 1 else f"{f['launches']} times"
        return (
            f"After step {f['last_step']} the program was launched {launches} and never trained "
            f"again, in {self.seconds(cost_s)}."
        )

    def say_failed_launches(self, f: Facts, cost_s: float) -> str:
        launches = "once" if f["launches"] == 1 else f"{f['launches']} times"
        return (
            f"The program was launched {launches} in vain before the launch that trained its first "
            f"step ({f['first_step']}), {self.seconds(cost_s)} in all."
        )

    def say_lost(self, f: Facts, cost_s: float) -> str:
        steps = self.number(number_of(f, "steps"))
        again = "from the beginning" if f["from_scratch"] else f"from step {f['resumed_at']}"
        went = f"after step {f['last_step']} training went on {again}"
        if f["count"] == 1:
            return (
                f"{steps} steps were lost: {went}. Doing them again costs {self.seconds(cost_s)}."
            )
        return (
            f"{f['count']} restarts lost {steps} steps, up to {f['worst_steps']} at once ({went}). "
            f"Doing them again costs {self.seconds(cost_s)}."
        )

    def say_periodic(self, f: Facts, cost_s: float) -> str:
        to = f" or {f['to_period']}" if f["to_period"] != f["period"] else ""
        named = f", but `{f['setting']}` is set to that" if f["setting"] else ""
        return (
            f"Every {f['period']}{to} steps one takes {self.factor(number_of(f, 'factor'))} as "
            f"long ({self.number(number_of(f, 'count'))} times "
            f"{self.each(f, cost_s)}, {self.seconds(cost_s)} in all); no line "
            f"says why{named}."
        )

    def say_slow_zone(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"Steps {f['first_step']} to {f['last_step']} ran "
                f"{self.factor(number_of(f, 'factor'))} slower and cost {self.seconds(cost_s)}; "
                "no line says why."
            )
        return (
            f"{self.number(number_of(f, 'count'))} stretches of steps ran slower for no stated "
            f"reason and cost {self.seconds(cost_s)}; the worst, {f['first_step']} to "
            f"{f['last_step']}, {self.factor(number_of(f, 'factor'))}."
        )

    def say_slow_steps(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"Step {f['last_step']} took {self.factor(number_of(f, 'factor'))} as long as "
                f"usual, {self.seconds(cost_s)} more; no line says why."
            )
        return (
            f"{self.number(number_of(f, 'count'))} single steps were slow for no stated reason, "
            f"{self.seconds(cost_s)} in all; the worst, {f['last_step']}, took "
            f"{self.seconds(number_of(f, 'worst_s'))} more."
        )

    def say_slower_since(self, f: Facts, cost_s: float) -> str:
        return self._speed(f, cost_s, "slower")

    def say_slower_since_resume(self, f: Facts, cost_s: float) -> str:
        return self._speed(f, cost_s, "slower")

    def say_faster_since(self, f: Facts, cost_s: float) -> str:
        return self._speed(f, cost_s, "faster")

    def _speed(self, f: Facts, cost_s: float, direction: str) -> str:
        since = f"From step {f['step']} on"
        if f["resumed"]:
            since = f"Since the resume at step {f['step']}"
        which = "after" if direction == "slower" else "before"
        return (
            f"{since}, steps are {self.factor(number_of(f, 'factor'))} "
            f"{direction} ({self.seconds(number_of(f, 'before_s'))}, then "
            f"{self.seconds(number_of(f, 'after_s'))}); the slow part {which} it costs "
            f"{self.seconds(cost_s)} if that was not wanted."
        )

    def unknown_sampled(self, f: Facts) -> str:
        return (
            f"Only every {ordinal(count_of(f, 'every'))} step is logged: "
            f"{self.percent(number_of(f, 'share'))} of the steps are estimated."
        )

    def unknown_averaged(self, f: Facts) -> str:
        return f"Times are averages over {f['every']} steps: single slow steps do not show."

    def unknown_totals_only(self, f: Facts) -> str:
        return "The log has totals only, no time per step: slow steps cannot show."

    def unknown_coarse_clock(self, f: Facts) -> str:
        seconds = self.seconds(number_of(f, "seconds"))
        return f"The clock counts in {seconds}: small pauses do not show."

    def unknown_hidden(self, f: Facts) -> str:
        parts = [
            f"{f[key]} {noun}{'' if f[key] == 1 else 's'}"
            for key, noun in (("evals", "evaluation"), ("saves", "save"))
            if f[key]
        ]
        is_one = count_of(f, "evals") + count_of(f, "saves") == 1
        cost = "it costs" if is_one else "they cost"
        return (
            f"The time of {' and '.join(parts)} is in no number of this log, and its steps "
            f"have no timestamps: what {cost} is unknown."
        )

    def unknown_joint(self, f: Facts) -> str:
        return "Evaluation and save share a pause, and the log does not split it."

    def unknown_rough_split(self, f: Facts) -> str:
        return (
            "Evaluation and save share pauses; the split rests on the first evaluation alone (step "
            f"{f['step']}), which holds warm-up too: a save may cost more."
        )

    def unknown_clock_backwards(self, f: Facts) -> str:
        times = "once" if f["count"] == 1 else f"{f['count']} times"
        return f"The clock goes back {times} (first at line {f['line']}): printed times are used."

    def unknown_gaps(self, f: Facts) -> str:
        return "How long nothing ran between the processes: the log has no common clock."

    def unknown_unused_save(self, f: Facts) -> str:
        saved = "" if f["saved_step"] is None else f" of step {f['saved_step']}"
        return (
            f"After step {f['last_step']} training began anew at step {f['first_step']} although "
            f"there was a save{saved}: counted as another training. If it was to go on from that "
            "save, the steps before are lost."
        )

    def unknown_ranks(self, f: Facts) -> str:
        return f"Several ranks print the same steps: {self.number(number_of(f, 'count'))} left out."

    remedies: ClassVar[Mapping[str, str]] = {
        "eval": "evaluate less often, or on fewer batches",
        "save": "save in the background, or less often",
        "eval-and-save": "evaluate and save less often; time them apart to see which one costs",
        "closing-save": "write to a faster disk, or save in the background",
        "closing-eval": "evaluate on fewer batches",
        "closing-eval-and-save": "time them apart to see which one costs",
        "failed-launches": "read the last error before the launch that trained",
        "never-again": "read the last error in the log",
        "closing-unknown": "print a line before and after what is done at the end",
        "aftermath": "give what works on the checkpoint (compression, upload) the lowest priority, "
        "or let it wait until training ends",
        "warmup": "keep the compile cache between runs",
        "data-stalls": "keep loader workers alive and prefetch",
        "data-chronic": "more loader workers, cheaper decoding, a faster disk",
        "startup": "cache what start-up prepares (tokenised data, compiled code)",
        "restart": "resume automatically when a process ends",
        "lost": "save more often, or when the process is told to end",
        "periodic": "log what the loop does at these steps; compare with the intervals set",
        "slow-zone": "watch CPU, disk and GPU clocks while it happens",
        "slow-steps": "watch CPU, disk and GPU clocks while it happens",
        "slower-since": "compare batch size, sequence length and other jobs before and after",
        "faster-since": "compare batch size, sequence length and other jobs before and after",
    }
