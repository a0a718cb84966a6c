"""Advice: how often to save and to evaluate, from what each was measured to cost.

A save costs what it stops training for *plus* its aftermath, on average over all saves. Two rules
say how often to save. The first keeps the cost under one percent. The second (Young 1974; Daly
2006) weighs it against the work that a failure undoes: with a cost C and a mean time M between
failures, save every sqrt(2 C M), corrected where C is not small against M.
"""

from __future__ import annotations

import re
from math import ceil, sqrt

import msgspec

from instride.explain.causes.contract import Facts
from instride.explain.causes.trainers import cheaper_save, line_for, shared_setting, trainer_of
from instride.explain.causes.weighing import cost_of_each, sorted_out, total_s, usual_distance
from instride.explain.ledger import Ledger
from instride.explain.spans import Owner, Span

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
    """Of one, on average: what it stops training for, and what goes on after it."""
    blocking_s: float
    share: float
    """Of the time that the run was running: what findings say."""
    every: float
    """Steps; an average where they are not regular."""
    is_regular: bool
    is_joint: bool
    """Evaluation and save in one: the log does not split them, or the trainer has one setting."""
    setting: str | None
    """The one that both depend on."""
    count: int
    step_s: float
    num_steps: int
    """Of the whole log."""

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
    dialect = trainer_of(ledger.timeline.run)
    failures = failures_of(ledger, mtbf_s)
    is_saving_weighed = saving is not None and failures is not None
    # Of one setting there can be one value only.
    if evaluating is not None and not (evaluating.setting and is_saving_weighed):
        advice += _under_target(evaluating, dialect, "eval-interval", "evaluate-less")
    if saving is not None and failures is not None:
        advice.append(_against_failures(saving, failures, dialect))
    elif saving is not None and not saving.is_joint:
        advice += _under_target(saving, dialect, "save-interval", "save-less")
    return advice


def pausing(ledger: Ledger, owner: Owner) -> Pausing | None:
    """What one pause of an owner costs; None if the log does not show it.

    A pause that evaluates and saves stands for a save where there is no other, and for both where
    the trainer has one setting for them.
    """
    inside = _between_steps(ledger)
    setting = shared_setting(ledger.timeline.run.dialect.name)
    owners = {owner}
    if setting and {Owner.EVAL, Owner.SAVE} <= {span.owner for span in inside}:
        owners = {Owner.EVAL, Owner.SAVE}
    elif owner is Owner.SAVE and not any(span.owner is owner for span in inside):
        owners = {Owner.EVAL} if any(span.is_joint for span in inside) else owners
    spans = [span for span in inside if span.owner in owners]
    step_s = ledger.mean_step_s
    if not spans or step_s <= 0:
        return None
    is_joint = len(owners) > 1 or any(span.is_joint for span in spans)
    after_s = ledger.accounts[Owner.AFTERMATH].seconds if is_joint or owner is Owner.SAVE else 0.0
    num_steps = ledger.timeline.run.step.highest - ledger.timeline.run.step.lowest + 1
    num_aftermaths = sum(span.owner is Owner.AFTERMATH for span in ledger.spans) if after_s else 0
    every, count = usual_distance(spans), max(num_aftermaths, len(cost_of_each(spans)))
    return Pausing(
        cost_s=(total_s(spans) + after_s) / count,
        blocking_s=total_s(spans) / count,
        share=(total_s(spans) + after_s) / ledger.running_s,
        every=float(every or num_steps / count),
        is_regular=every is not None,
        is_joint=is_joint,
        setting=setting if is_joint else None,
        count=count,
        step_s=step_s,
        num_steps=num_steps,
    )


def _between_steps(ledger: Ledger) -> list[Span]:
    """The evaluations and saves that findings tell of as such."""
    found = []
    for owner in (Owner.EVAL, Owner.SAVE):
        found += sorted_out([span for span in ledger.spans if span.owner is owner])[0]
    return found


def failures_of(ledger: Ledger, mtbf_s: float | None = None) -> Failures | None:
    """How often the training dies: as given, or by the restarts in the log.

    One restart says nothing about how often there will be others.
    """
    if mtbf_s is not None:
        return Failures(mtbf_s, 0) if mtbf_s > 0 else None
    count = sum(not restart.is_new_run for restart in ledger.restarts)
    return Failures(ledger.running_s / count, count) if count > 1 else None


def _under_target(pauses: Pausing, dialect: str, name: str, remedy: str) -> list[Advice]:
    """The interval that keeps the cost under one percent, if the present one does not."""
    if pauses.share <= TARGET * NEAR:
        return []
    instead: str | None = "evaluate-fewer"
    if remedy == "save-less":
        instead = cheaper_save(dialect, is_after=pauses.cost_s > 2 * pauses.blocking_s)
    steps = pauses.steps_for(pauses.cost_s * (1 / TARGET - 1))
    facts: Facts = {
        "cost_s": pauses.cost_s,
        "blocking_s": pauses.blocking_s,
        "every": pauses.known_every,
        "share": pauses.share,
        "target": TARGET,
        "steps": steps,
        "count": pauses.count,
        "setting": pauses.setting,
        "joint": int(pauses.is_joint),
        "beyond": int(pauses.is_far_beyond(steps)),
        "instead": instead,
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
        "count": pauses.count,
        "setting": pauses.setting,
        "keep": int(is_near),
        "joint": int(pauses.is_joint),
        "share": wasted(pauses.cost_s, now_s, failures.mean_s),
        "best_share": wasted(pauses.cost_s, daly_s, failures.mean_s),
    }
    if is_near:
        return Advice("save-by-failures", facts, None, None)
    remedy = "save-less" if factor < 1 else "save-more"
    remedy = "evaluate-less" if pauses.setting else remedy
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
        raise ValueError(f"`{text}` is not a time between failures; say 12h, 3d or 90min")
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
