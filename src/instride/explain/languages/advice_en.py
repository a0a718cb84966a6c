"""English: sentences of the newer causes, and advice."""

from __future__ import annotations

from instride.explain.languages.causes_en import EnglishCauses
from instride.explain.languages.facts import Facts, count_of, number_of

NO_LINE = "no line says so"


class EnglishAdvice(EnglishCauses):
    def say_first_eval(self, f: Facts, cost_s: float) -> str:
        return (
            f"The first evaluation (step {f['step']}) took {self.seconds(number_of(f, 'first_s'))} "
            f"where others take {self.seconds(number_of(f, 'usual_s'))}: the shape of something "
            "that is compiled or loaded for the first time."
        )

    def say_cleanup(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"Deleting old checkpoints at step {f['step']} stopped training for "
                f"{self.seconds(cost_s)}."
            )
        every = f" (every {f['every']} steps)" if f["every"] else ""
        return (
            f"{self.number(number_of(f, 'count'))} times{every} training stood still while old "
            f"checkpoints were deleted, {self.each(f, cost_s)} each, "
            f"{self.seconds(cost_s)} in all."
        )

    def say_growing_saves(self, f: Facts, cost_s: float) -> str:
        return (
            f"Saves take longer and longer: {self.seconds(number_of(f, 'first_s'))} at step "
            f"{f['first_step']}, {self.seconds(number_of(f, 'last_s'))} at step {f['last_step']}; "
            f"that growth costs {self.seconds(cost_s)}."
        )

    def say_slow_filesystem(self, f: Facts, cost_s: float) -> str:
        gigabytes, megabytes_s = number_of(f, "bytes") / 1e9, number_of(f, "bytes_s") / 1e6
        return (
            f"{self.number(gigabytes, 1)} GB were saved at {self.number(megabytes_s)} MB a second; "
            f"at 100 MB a second it would have taken {self.seconds(cost_s)} less."
        )

    def say_recompilation(self, f: Facts, cost_s: float) -> str:
        many = count_of(f, "count") > 1
        if f["marked"]:
            times = f"{f['count']} times, longest at" if many else "At"
            return (
                f"{times} step {f['step']}, something was compiled in the middle of the run while "
                f"training waited, {self.seconds(cost_s)} in all."
            )
        what = f"{f['count']} steps" if many else f"Step {f['step']}"
        return (
            f"{what} right after the first evaluations took {self.seconds(cost_s)} longer, and "
            f"none after later ones: the shape of a compilation; {NO_LINE}."
        )

    def say_epoch_stalls(self, f: Facts, cost_s: float) -> str:
        return (
            f"The first step of {f['count']} of {f['epochs']} epochs took "
            f"{self.each(f, cost_s)} longer, {self.seconds(cost_s)} in all: "
            "the loader seems to start anew."
        )

    def say_worker_turns(self, f: Facts, cost_s: float) -> str:
        times = (
            f"{self.number(number_of(f, 'count'))} times "
            f"{self.each(f, cost_s)}, {self.seconds(cost_s)} in all"
        )
        if f["stated"]:
            return (
                f"One step in {f['period']} waits for data ({times}): the shape of a loader whose "
                f"{f['period']} workers cannot keep up."
            )
        return (
            f"One step in {f['period']} takes {self.factor(number_of(f, 'factor'))} as long "
            f"({times}): the shape of a loader whose {f['period']} workers cannot keep up; "
            f"{NO_LINE}."
        )

    def say_shard_switches(self, f: Facts, cost_s: float) -> str:
        return (
            f"Every {f['least']} to {f['most']} steps one takes "
            f"{self.factor(number_of(f, 'factor'))} as long "
            f"({self.number(number_of(f, 'count'))} times "
            f"{self.each(f, cost_s)}, {self.seconds(cost_s)} in all): nearly "
            "equal distances are the shape of a switch to the next data file."
        )

    def say_crash_loop(self, f: Facts, cost_s: float) -> str:
        return (
            f"{f['launches']} launches in a row trained no new step and took "
            f"{self.seconds(cost_s)}."
        )

    def say_collector_pauses(self, f: Facts, cost_s: float) -> str:
        return (
            f"{self.number(number_of(f, 'count'))} single steps at no equal distances took some "
            f"{self.seconds(number_of(f, 'typical_s'))} longer, {self.seconds(cost_s)} in all: the "
            f"shape of garbage collection, or of an allocator that cleans up; {NO_LINE}."
        )

    def say_allocator_flushes(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"Step {f['step']} took {self.seconds(cost_s)} longer, and the log says that the "
                "memory allocator had to give its cache back."
            )
        return (
            f"{self.number(number_of(f, 'count'))} times the log says that the memory allocator "
            f"had to give its cache back, and steps took {self.each(f, cost_s)} longer there, "
            f"{self.seconds(cost_s)} in all."
        )

    def say_drift(self, f: Facts, cost_s: float) -> str:
        levels = (
            f"from {self.seconds(number_of(f, 'before_s'))} to "
            f"{self.seconds(number_of(f, 'after_s'))}"
        )
        if f["plateau"]:
            return (
                f"From step {f['first_step']} on steps got slower little by little, {levels}, and "
                f"then kept that speed; it costs {self.seconds(cost_s)} if that was not wanted."
            )
        return (
            f"From step {f['first_step']} to {f['last_step']} steps got slower all the time, "
            f"{levels}; it costs {self.seconds(cost_s)} if that was not wanted."
        )

    def say_hidden_time(self, f: Facts, cost_s: float) -> str:
        hidden = f"{self.seconds(cost_s)} of the wall time is in no step time that the log prints"
        if f["everywhere"]:
            return f"{hidden}: nearly every step takes longer than it says."
        count = self.number(number_of(f, "count"))
        typical = self.seconds(number_of(f, "typical_s"))
        where = " with evaluations or saves" if f["marked"] else ", no line says for what"
        return f"{hidden}: {count} times {typical}{where}."

    def advice_eval_interval(self, f: Facts) -> str:
        return self._interval(f, "An evaluation")

    def advice_save_interval(self, f: Facts) -> str:
        return self._interval(f, "A save")

    def _interval(self, f: Facts, noun: str) -> str:
        noun = "A pause for evaluation and save" if f["joint"] else noun
        now = f"{noun} costs {self._cost(f)}"
        if f["every"] is not None:
            now += (
                f"; every {self.number(number_of(f, 'every'))} steps, that is "
                f"{self.percent(number_of(f, 'share'))} of the time"
            )
        steps, target = self.number(number_of(f, "steps")), self.percent(number_of(f, "target"))
        if f["beyond"]:
            instead = f": {self.cures[str(f['instead'])]}" if f["instead"] else ""
            return f"{now}. Only every {steps} steps would it be under {target}{instead}."
        both = ""
        if f["setting"]:
            both = f" `{f['setting']}` sets both: saves become rarer, too, and a crash undoes more."
        return f"{now}. Every {steps} steps, it is under {target}.{both}"

    def _cost(self, f: Facts) -> str:
        cost_s, blocking_s = number_of(f, "cost_s"), number_of(f, "blocking_s")
        cost = self.seconds(cost_s) + (" on average" if count_of(f, "count") > 1 else "")
        if cost_s <= 1.02 * blocking_s:
            return cost
        return f"{cost} ({self.seconds(cost_s - blocking_s)} of it in the steps after it)"

    def advice_save_by_failures(self, f: Facts) -> str:
        restarts = count_of(f, "restarts")
        mtbf = f"With a failure every {self.seconds(number_of(f, 'mtbf_s'))}"
        if restarts:
            seen = "the one restart" if restarts == 1 else f"the {restarts} restarts"
            mtbf += f" (a guess from {seen} in this log)"
        what = "an evaluation and a save" if f["joint"] else "a save"
        best = (
            f"{mtbf} and {self._cost(f)} for {what}, least is lost by saving every "
            f"{self.seconds(number_of(f, 'daly_s'))} "
            f"({self.number(number_of(f, 'steps'))} steps; Young/Daly)"
        )
        both = f" `{f['setting']}` sets both: it evaluates as often." if f["setting"] else ""
        if f["keep"]:
            return f"{best}: about what is set."
        if f["every"] is None:
            return f"{best}: {self.percent(number_of(f, 'best_share'))} of the time.{both}"
        return (
            f"{best}: {self.percent(number_of(f, 'best_share'))} of the time, not "
            f"{self.percent(number_of(f, 'share'))} as now with every "
            f"{self.number(number_of(f, 'every'))} steps.{both}"
        )
