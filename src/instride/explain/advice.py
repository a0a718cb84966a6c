"""Advice: how often to save and to evaluate, from what each was measured to cost.

A save costs what it stops training for *plus* its aftermath. Two rules say how often to save. The
first keeps the cost under one percent. The second (Young 1974; Daly 2006) weighs it against the
work that a failure undoes: with a cost C and a mean time M between failures, save every
sqrt(2 C M), corrected where C is not small against M.
"""

from __future__ import annotations

import re
from math import ceil, sqrt
from statistics import median

import msgspec

from instride.explain.causes.contract import Facts
from instride.explain.causes.trainers import line_for
from instride.explain.causes.weighing import cost_of_each, usual_distance
from instride.explain.ledger import Ledger
from instride.explain.spans import Owner

TARGET = 0.01
"""Share of the time that evaluating, or saving, may cost."""
NEAR = 1.25
"""An interval within this factor of the best one needs no advice."""
FAR_BEYOND = 2.0
"""An interval of this many times the log is no line to set: the pause must become shorter."""
UNITS_S = {"": 3600.0, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(|s|min|m|h|d|w)")


class Advice(msgspec.Struct, frozen=True):
    """Something to set, with the numbers that its sentence is made of."""

    id: str
    facts: Facts
    change: str | None
    """The line or option for the trainer recognised."""
    saves_s: float | None
    """What this run would have saved."""


class Pausing(msgspec.Struct, frozen=True):
    """What the pauses of one kind cost, and how far apart they are."""

    cost_s: float
    """Of one: what it stops training for, and what goes on after it."""
    blocking_s: float
    every: float
    """Steps; an average where they are not regular."""
    is_regular: bool
    is_joint: bool
    """Evaluation and save in one, which the log does not split."""
    count: int
    step_s: float
    num_steps: int
    """Of the whole log."""

    @property
    def share(self) -> float:
        """Of the time, at the present interval."""
        return self.cost_s / (self.cost_s + self.every * self.step_s)

    @property
    def known_every(self) -> int | None:
        """The present interval; a single pause does not tell."""
        return round(self.every) if self.count > 1 else None

    def is_far_beyond(self, steps: int) -> bool:
        return steps > FAR_BEYOND * self.num_steps

    def steps_for(self, seconds: float) -> int:
        """An interval of at least so many seconds, a multiple of the present one if regular."""
        steps = seconds / self.step_s
        if self.is_regular:
            return round(self.every) * max(1, ceil(steps / self.every - 1e-9))
        return rounded_up(steps)

    def steps_within(self, seconds: float) -> int:
        """An interval of at most so many seconds, as people would write it."""
        return rounded_down(seconds / self.step_s)

    def share_saved(self, steps: int) -> float | None:
        """Of the present cost, with another interval; one pause would be left."""
        if self.count < 2:
            return None
        return max(0.0, 1 - self.every / min(steps, self.num_steps))


class Failures(msgspec.Struct, frozen=True):
    mean_s: float
    """Between failures."""
    count: int
    """Seen in the log; 0 if the time was given."""


def advise(ledger: Ledger, mtbf_s: float | None = None) -> list[Advice]:
    """What to set; `mtbf_s` is the mean time between failures, else that seen in the log."""
    advice = []
    evaluating, saving = pausing(ledger, Owner.EVAL), pausing(ledger, Owner.SAVE)
    dialect = ledger.timeline.run.dialect.name
    if evaluating is not None:
        advice += _under_target(evaluating, dialect, "eval-interval", "evaluate-less")
    failures = failures_of(ledger, mtbf_s)
    # One restart in a log says nothing about how often there will be others.
    if saving is not None and failures is not None and failures.count != 1:
        advice.append(_against_failures(saving, failures, dialect))
    elif saving is not None and not saving.is_joint:
        advice += _under_target(saving, dialect, "save-interval", "save-less")
    return advice


def pausing(ledger: Ledger, owner: Owner) -> Pausing | None:
    """What one pause of an owner costs; None if the log does not show it.

    A pause that evaluates and saves stands for a save where there is no other.
    """
    inside = [span for span in ledger.spans if not span.is_closing]
    spans = [span for span in inside if span.owner is owner]
    if not spans and owner is Owner.SAVE and any(span.is_joint for span in inside):
        spans = [span for span in inside if span.owner is Owner.EVAL]
    step_s = ledger.main.base_s
    if not spans or step_s <= 0:
        return None
    costs = cost_of_each(spans)
    blocking_s = median(costs)
    after_s = ledger.accounts[Owner.AFTERMATH].seconds if owner is Owner.SAVE else 0.0
    num_steps = max(ledger.timeline.run.step) - min(ledger.timeline.run.step) + 1
    every = usual_distance(spans)
    return Pausing(
        cost_s=blocking_s + after_s / len(costs),
        blocking_s=blocking_s,
        every=float(every or num_steps / len(costs)),
        is_regular=every is not None,
        is_joint=any(span.is_joint for span in spans),
        count=len(costs),
        step_s=step_s,
        num_steps=num_steps,
    )


def failures_of(ledger: Ledger, mtbf_s: float | None = None) -> Failures | None:
    """How often the training dies: as given, or by the restarts in the log."""
    if mtbf_s is not None:
        return Failures(mtbf_s, 0) if mtbf_s > 0 else None
    count = sum(not restart.is_new_run for restart in ledger.restarts)
    return Failures(ledger.running_s / count, count) if count else None


def _under_target(pauses: Pausing, dialect: str, name: str, remedy: str) -> list[Advice]:
    """The interval that keeps the cost under one percent, if the present one does not."""
    if pauses.share <= TARGET * NEAR:
        return []
    steps = pauses.steps_for(pauses.cost_s * (1 / TARGET - 1))
    facts: Facts = {
        "cost_s": pauses.cost_s,
        "blocking_s": pauses.blocking_s,
        "every": pauses.known_every,
        "share": pauses.share,
        "target": TARGET,
        "steps": steps,
        "joint": int(pauses.is_joint),
        "beyond": int(pauses.is_far_beyond(steps)),
    }
    if pauses.is_far_beyond(steps):
        return [Advice(name, facts, None, None)]
    saved = pauses.share_saved(steps)
    saves_s = None if saved is None else saved * pauses.count * pauses.cost_s
    return [Advice(name, facts, line_for(dialect, remedy, steps), saves_s)]


def _against_failures(pauses: Pausing, failures: Failures, dialect: str) -> Advice:
    """The interval that loses least to saving and to work done again."""
    young_s, daly_s = young(pauses.cost_s, failures.mean_s), daly(pauses.cost_s, failures.mean_s)
    steps = pauses.steps_within(daly_s)
    now_s = pauses.every * pauses.step_s
    factor = now_s / daly_s
    is_near = pauses.count > 1 and 1 / NEAR <= factor <= NEAR
    facts: Facts = {
        "cost_s": pauses.cost_s,
        "blocking_s": pauses.blocking_s,
        "every": pauses.known_every,
        "mtbf_s": failures.mean_s,
        "restarts": failures.count,
        "young_s": young_s,
        "daly_s": daly_s,
        "steps": steps,
        "keep": int(is_near),
        "joint": int(pauses.is_joint),
        "share": wasted(pauses.cost_s, now_s, failures.mean_s),
        "best_share": wasted(pauses.cost_s, daly_s, failures.mean_s),
    }
    if is_near:
        return Advice("save-by-failures", facts, None, None)
    remedy = "save-less" if factor < 1 else "save-more"
    return Advice("save-by-failures", facts, line_for(dialect, remedy, steps), None)


def young(cost_s: float, mtbf_s: float) -> float:
    """Seconds between saves, to first order."""
    return sqrt(2 * cost_s * mtbf_s)


def daly(cost_s: float, mtbf_s: float) -> float:
    """Seconds between saves, to higher order; the mean time itself if a save takes longer."""
    if cost_s >= 2 * mtbf_s:
        return mtbf_s
    ratio = cost_s / (2 * mtbf_s)
    return young(cost_s, mtbf_s) * (1 + sqrt(ratio) / 3 + ratio / 9) - cost_s


def wasted(cost_s: float, interval_s: float, mtbf_s: float) -> float:
    """Share of the time that goes into saving, and into doing again what a failure undid."""
    return min(1.0, cost_s / (cost_s + interval_s) + interval_s / (2 * mtbf_s))


def parse_mtbf(text: str) -> float:
    """Seconds of `12h`, `3d`, `90min`, or of a number of hours; ValueError for anything else."""
    found = DURATION.fullmatch(text.strip().lower())
    seconds = float(found[1]) * UNITS_S[found[2]] if found else 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"`{text}` is no time between failures; say 12h, 3d or 90min")
    return seconds


def rounded_up(steps: float) -> int:
    """Two digits are enough for an interval."""
    unit = _unit(ceil(steps))
    return max(1, ceil(steps / unit) * unit)


def rounded_down(steps: float) -> int:
    unit = _unit(int(steps))
    return max(1, int(steps / unit) * unit)


def _unit(steps: int) -> int:
    """What the second digit counts in."""
    return int(10 ** max(0, len(str(steps)) - 2))
