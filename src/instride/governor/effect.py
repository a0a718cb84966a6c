"""What work does to step times: windows of work against the pauses on both sides of each.

Against both sides, because a run drifts by itself: what grows or shrinks steadily is the same in
the mean of two pauses as in the work between them. What remains is noise, and its size says how
many windows it takes before anything can be told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import ceil, inf, sqrt

import msgspec

from instride.governor.middle import mean_of, median_of
from instride.governor.model import Step, Window

LEAST_PAIRS = 3
MOST_PAIRS = 256
MOST_STEPS = 4096
MOST_WINDOWS = 96
"""That wait for their steps: a log may be behind by as many."""
PAST_WINDOWS = 4
"""That are summed up already: a step of the next one may have begun in them."""
BASELINE_STEPS = 200
PURE_PAUSE, MOSTLY_WORK = 0.1, 0.5
"""Shares of a step in which work went on: up to the one it counts as a pause, from the other on as
work; those in between are left out."""
GRAIN_S = 0.01
"""Steps that are shorter are taken together, up to that: all of them between two pauses have to be
remembered, and are thousands a second of some trainings."""
CAP = 3.0
"""A step counts as so many ordinary ones at most: a stall that work causes is seen, and an
evaluation of a minute does not drown everything."""
TRIM = 0.2
"""Share of pairs left out at either end: those with an evaluation or a save in them."""
SHARED_PAUSES = 1.16
"""Neighbouring pairs share a pause, which makes their mean less certain than independent ones:
the root of 2 / 1.5."""
T_95 = (
    12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23,
    2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09,
)  # fmt: skip


class Pair(msgspec.Struct, frozen=True, gc=False):
    """A window of work and the pauses on both sides."""

    at_s: float
    effort: float
    inflation: float
    """Step time in the work over that in the pauses, less 1."""
    num_steps: int
    work_s: float
    """How long the work went on."""

    def at_effort(self, effort: float) -> Pair:
        """What it would have shown with another effort: in proportion, which is near enough for
        efforts that are near."""
        inflation = self.inflation * effort / self.effort
        return msgspec.structs.replace(self, effort=effort, inflation=inflation)


class Estimate(msgspec.Struct, frozen=True):
    """How much longer steps take during work."""

    inflation: float
    plus_minus: float
    """Half of a 95 % interval."""
    num_pairs: int
    steps_per_pair: float

    @property
    def least(self) -> float:
        return self.inflation - self.plus_minus

    @property
    def most(self) -> float:
        return self.inflation + self.plus_minus

    def num_steps_needed(self, plus_minus: float) -> int:
        """How many more steps until the interval is as narrow as that; 0 if it is."""
        if self.plus_minus <= plus_minus:
            return 0
        if self.plus_minus == inf:
            num_pairs = float(LEAST_PAIRS)
        else:
            num_pairs = self.num_pairs * (self.plus_minus / plus_minus) ** 2
        return max(1, ceil((num_pairs - self.num_pairs) * self.steps_per_pair))


def estimate(pairs: Sequence[Pair]) -> Estimate | None:
    """A trimmed mean, and how sure it is; None without any pair."""
    if not pairs:
        return None
    values = sorted(pair.inflation for pair in pairs)
    steps_per_pair = mean_of([pair.num_steps for pair in pairs])
    num_cut = int(TRIM * len(values))
    kept = values[num_cut : len(values) - num_cut]
    if len(values) < LEAST_PAIRS:
        return Estimate(mean_of(kept), inf, len(values), steps_per_pair)
    # What was cut counts as the nearest that was not: else the spread would look too small.
    pulled = [kept[0]] * num_cut + kept + [kept[-1]] * num_cut
    middle = mean_of(pulled)
    variance = sum((value - middle) ** 2 for value in pulled) / (len(pulled) - 1)
    error = SHARED_PAUSES * sqrt(variance / len(values)) / (1 - 2 * num_cut / len(values))
    return Estimate(mean_of(kept), _t(len(kept) - 1) * error, len(values), steps_per_pair)


def mean(pairs: Sequence[Pair]) -> Estimate | None:
    """The mean over all time at work, with whatever was rare in it; None without any pair.

    For sums: a trimmed mean would leave out just the few windows in which work was felt.
    """
    if not pairs:
        return None
    total_s = sum(pair.work_s for pair in pairs)
    middle = sum(pair.inflation * pair.work_s for pair in pairs) / total_s
    steps_per_pair = mean_of([pair.num_steps for pair in pairs])
    if len(pairs) < LEAST_PAIRS:
        return Estimate(middle, inf, len(pairs), steps_per_pair)
    squares = sum(((pair.inflation - middle) * pair.work_s) ** 2 for pair in pairs)
    error = SHARED_PAUSES * sqrt(squares * len(pairs) / (len(pairs) - 1)) / total_s
    return Estimate(middle, _t(len(pairs) - 1) * error, len(pairs), steps_per_pair)


def _t(freedom: int) -> float:
    """Student's quantile for 95 %, to within a hundredth."""
    return T_95[freedom - 1] if freedom <= len(T_95) else 1.96 + 2.6 / freedom


class _Summary(msgspec.Struct, frozen=True):
    """The steps of one window."""

    window: Window
    mean_s: float
    num_steps: int


class Comparison:
    """Takes windows and steps as they come, and makes pairs of them.

    Steps may come late, as those of a log do: a window is summed up when steps that ended behind
    the one after it are there.
    """

    def __init__(self) -> None:
        self._past: deque[Window] = deque(maxlen=PAST_WINDOWS)
        self._windows: deque[Window] = deque(maxlen=MOST_WINDOWS)
        self._steps: deque[Step] = deque(maxlen=MOST_STEPS)
        self._done: deque[_Summary | None] = deque(maxlen=3)
        self._ordinary: deque[float] = deque(maxlen=BASELINE_STEPS)
        self.pairs: deque[Pair] = deque(maxlen=MOST_PAIRS)

    def begin_anew(self) -> None:
        """Steps are of another kind from now on: hold none of them against earlier ones."""
        self._steps.clear()
        self._ordinary.clear()
        self._windows.clear()
        self._past.clear()
        self._done.clear()

    def add_window(self, window: Window) -> None:
        """A stretch that has ended; it follows the one before it, or there was a gap."""
        if self._windows and self._windows[-1].end_s < window.start_s:
            self._windows.append(Window(self._windows[-1].end_s, window.start_s, "unclear"))
        self._windows.append(window)

    def add_steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self._add(step)
        # A step that began in a window may end behind it: the next window must be over, too.
        while len(self._windows) > 1 and self._steps:
            if self._windows[1].end_s > self._steps[-1].end_s:
                break
            self._sum_up(self._windows[0])
            self._past.append(self._windows.popleft())
            self._drop_steps(self._past[-1].end_s)

    def _add(self, step: Step) -> None:
        last = self._steps[-1] if self._steps else None
        if last is not None and last.end_s <= step.end_s <= last.start_s + GRAIN_S:
            step = _joined(self._steps.pop(), step)
        self._steps.append(step)

    def _drop_steps(self, until_s: float) -> None:
        while self._steps and self._steps[0].end_s <= until_s:
            self._steps.popleft()

    def _sum_up(self, window: Window) -> None:
        if window.kind == "settling":
            return
        steps = [step for step in self._steps if self._belongs(step, window)]
        if window.kind == "pause":
            self._ordinary.extend(step.seconds for step in steps)
        summary = None
        if steps and self._ordinary and window.kind in ("work", "pause"):
            most_s = CAP * median_of(self._ordinary)
            counts = [step.count for step in steps]
            capped = [min(step.seconds, most_s) * step.count for step in steps]
            summary = _Summary(window, sum(capped) / sum(counts), sum(counts))
        self._done.append(summary)
        self._pair()

    def _belongs(self, step: Step, window: Window) -> bool:
        if _overlap_s(step, window) == 0:
            return False
        near = (*self._past, *self._windows)
        not_paused_s = [
            _overlap_s(step, each) for each in near if each.kind in ("work", "settling", "hurried")
        ]
        share = sum(not_paused_s) / step.span_s
        if window.is_work:
            most_s = max(_overlap_s(step, each) for each in near if each.is_work)
            return share >= MOSTLY_WORK and _overlap_s(step, window) >= most_s
        middle_s = step.end_s - step.span_s / 2
        return share <= PURE_PAUSE and window.start_s <= middle_s < window.end_s

    def _pair(self) -> None:
        before, work, after = [*self._done, None, None, None][:3]
        if before is None or work is None or after is None:
            return
        if not work.window.is_work or before.window.is_work or after.window.is_work:
            return
        ordinary_s = (before.mean_s + after.mean_s) / 2
        if ordinary_s > 0:
            num_steps = work.num_steps + after.num_steps
            inflation = work.mean_s / ordinary_s - 1
            window = work.window
            work_s = window.end_s - window.start_s
            self.pairs.append(Pair(window.end_s, window.effort, inflation, num_steps, work_s))


def _joined(step: Step, after: Step) -> Step:
    span_s, count = step.span_s + after.span_s, step.count + after.count
    return Step(after.end_s, span_s / count, span_s)


def _overlap_s(step: Step, window: Window) -> float:
    """How much of a step lies in a window."""
    return max(0.0, min(step.end_s, window.end_s) - max(step.start_s, window.start_s))
