"""What the readers of unknown trainers share: generic markers, epochs, launches to be proven."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from statistics import median

import msgspec

from instride.steps.model import EventKind, Pauses, Run, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.generic_markers import marker, stated_s
from instride.steps.readers.stamped_reader import ANOTHER_S
from instride.steps.recording import Recording
from instride.steps.stamps import PREFIX_WIDTH, Stamps, span_s

COARSEST_S = 60.0
FINE_S = 0.01
"""A clock that counts in these or less shows every pause that matters."""
MOST_OPENING = 50
"""Lines before the first step that may tell when the process began."""
HEAD = 4
"""Lines at the beginning of a log that are no coincidence when they come again in a row."""
NO_NUMBERS = str.maketrans("", "", "0123456789.,:+- \t")
MOST_HELD = 200
"""Events kept back after a launch: more of them without a step say nothing new."""


class EpochCount:
    """Counts iterations on through the epochs, where a log counts them anew in each."""

    def __init__(self, iters: int | None = None, first_epoch: int | None = None) -> None:
        self.iters = iters
        """Iterations an epoch; learnt from the first whole epoch where it is not given."""
        self._first_epoch = first_epoch
        self._epoch: int | None = None
        self._first = self._last = 0
        self._stride = 0
        self._begins_anew = False
        self._goes_on = False

    def step(self, epoch: int, iteration: int, iters: int | None = None) -> int:
        """The step that iteration `iteration` of an epoch is, of `iters` if the log says so."""
        self.iters = iters or self.iters
        if self._first_epoch is None:
            self._first_epoch = 1 if self.iters and epoch > 0 else epoch
        self._learn(epoch, iteration)
        if self._goes_on and not self._begins_anew:
            return iteration
        return (epoch - self._first_epoch) * (self.iters or 0) + iteration

    def _learn(self, epoch: int, iteration: int) -> None:
        if epoch == self._epoch:
            if iteration > self._last:
                stride = iteration - self._last
                self._stride = min(self._stride or stride, stride)
                self._last = iteration
            return
        if self._epoch is not None and epoch > self._epoch:
            self._goes_on = self._goes_on or iteration > self._last
            self._begins_anew = self._begins_anew or iteration <= self._last
            if self._begins_anew and self.iters is None:
                self.iters = self._length()
        self._epoch, self._first, self._last = epoch, iteration, iteration

    def _length(self) -> int:
        """Iterations of the epoch that just ended; printed are 0, 10, 20 or 10, 20, 30 or 9, 19."""
        stride = self._stride or 1
        first = self._first if self._first <= stride else self._first % stride or stride
        return self._last + stride - first


class MarkedReader(Reader):
    """A reader that knows steps by other means, and everything else by generic markers.

    Unknown trainers may print their banner once an epoch. So a launch in the middle of a log is
    kept back, with all that follows it, until the next step shows whether a process began.
    """

    own_kinds: frozenset[EventKind] = frozenset()
    """Kinds that the reader finds itself: generic markers for them are not looked for."""

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self.stamps = Stamps()
        self._epochs = EpochCount()
        self._last_epoch: int | None = None
        self._last_step: int | None = None
        self._opening: list[tuple[int, str]] = []
        self._last_other: tuple[int, str] | None = None
        self._held: list[tuple[EventKind, Callable[[], None]]] = []
        self._head: list[str] = []
        self._again: list[tuple[int, str]] = []
        """Its first lines, without numbers, and the lines just now that are the same."""
        self._launched: float | None = None
        """When a launch was announced last, since the last step."""

    def record(
        self,
        number: int,
        step: int,
        seconds: float | None = None,
        wall: float | None = None,
        data: float | None = None,
    ) -> None:
        if abs(step) >> 62:
            return
        if self._held:
            self._release(step)
        if self._opening:
            self._tell_opening(wall)
        self._last_step, self._last_other, self._launched = step, None, None
        self.log.step(step, number, seconds, wall, data)

    def other(self, number: int, line: str) -> None:
        """Take a line without a step: a marker, or the last sign of life of the process."""
        self._compare_with_head(number, line)
        kind = marker(line)
        if kind is not None and kind not in self.own_kinds:
            self.mark(kind, number, stated_s(line), self.stamp(line))
        elif self._last_step is not None:
            self._last_other = number, line
        elif len(self._opening) < MOST_OPENING:
            self._opening.append((number, line[:PREFIX_WIDTH]))

    def _compare_with_head(self, number: int, line: str) -> None:
        """A log that goes on with the lines that it began with is that of another launch."""
        text = line[:PREFIX_WIDTH].translate(NO_NUMBERS)
        if not text:
            return
        if len(self._head) < HEAD:
            self._head.append(text)
        elif text == self._head[len(self._again)]:
            self._again.append((number, line))
            if len(self._again) == HEAD:
                self.mark(EventKind.START, self._again[0][0], wall=self.stamp(self._again[0][1]))
                self._again = []
        elif self._again:
            self._again = []

    def count(self, number: int, epoch: int, iteration: int, iters: int | None = None) -> int:
        """The step of an iteration inside an epoch; a new epoch is an event."""
        if self._last_epoch is not None and epoch > self._last_epoch:
            self.mark(EventKind.EPOCH, number)
        self._last_epoch = epoch
        return self._epochs.step(epoch, iteration, iters)

    def mark(
        self,
        kind: EventKind,
        number: int,
        seconds: float | None = None,
        wall: float | None = None,
        step: int | None = None,
    ) -> None:
        if kind is EventKind.START and self._is_told_already(wall):
            return

        def tell() -> None:
            self.log.event(kind, number, seconds, wall, step)
            # After the event: a launch is not the end of the process before it.
            self.log.clock(wall, number)

        if self._held or (kind is EventKind.START and self._last_step is not None):
            if not self._held:
                self._sign_off()
            if len(self._held) < MOST_HELD:
                self._held.append((kind, tell))
        else:
            tell()

    def _is_told_already(self, wall: float | None) -> bool:
        """Whether a launch was announced a moment ago: one process may say it in several ways."""
        before, self._launched = self._launched, wall
        return before is not None and wall is not None and 0 <= wall - before < ANOTHER_S

    def hear(self, kind: EventKind, number: int) -> None:
        self.mark(kind, number)

    def stamp(self, line: str) -> float | None:
        """The wall clock on a line without a step, in the form of those on the steps."""
        if self.stamps.form is None or not self.log.run.clock_is_absolute:
            return None
        return self.stamps.find(line)

    def use_own_clock(self) -> None:
        """The wall clock is time since the start of the process, not the time of the day."""
        self.log.run.clock_is_absolute = False
        self.log.run.clock_resolution_s = COARSEST_S

    def since_start(self, text: str, scale: float = 1.0) -> float | None:
        """Seconds since the start; how finely they are printed is kept with the run."""
        value = span_s(text)
        if value is None:
            return None
        run = self.log.run
        resolution_s = scale * 10.0 ** -len(text.partition(".")[2])
        if resolution_s < run.clock_resolution_s:
            run.clock_resolution_s = resolution_s if resolution_s > FINE_S else 0.0
        return value * scale

    def finish(self) -> None:
        self._release(None)
        self._sign_off()
        run = self.log.run
        if run.clock_is_absolute and any(not isnan(wall) for wall in run.wall[:100]):
            run.clock_resolution_s = self.stamps.resolution_s
        pauses = _where_pauses_land(run)
        run.dialect = msgspec.structs.replace(run.dialect, pauses=pauses)

    def _release(self, next_step: int | None) -> None:
        """Tell what was held back: with the launch if the steps begin anew or were loaded."""
        held, self._held = self._held, []
        is_launch = (
            next_step is None
            or self._last_step is None
            or next_step <= self._last_step
            or any(kind is EventKind.LOAD for kind, _ in held)
        )
        for kind, tell in held:
            if is_launch or kind is not EventKind.START:
                tell()

    def _tell_opening(self, first_wall: float | None) -> None:
        """Note the first time in the log, now that the form of its timestamps is known."""
        opening, self._opening = self._opening, []
        if first_wall is None or self.stamps.form is None or not self.log.run.clock_is_absolute:
            return
        # Its own object: going back to earlier lines must not look like the next day.
        stamps = Stamps(self.stamps.form)
        for number, line in opening:
            wall = stamps.find(line)
            if wall is not None and wall <= first_wall:
                self.log.clock(wall, number)
                return

    def _sign_off(self) -> None:
        """Note the time on the last line of a process, which may be long after its last step."""
        if self._last_other is not None:
            number, line = self._last_other
            self.log.clock(self.stamp(line), number)
            self._last_other = None


def _where_pauses_land(run: Run) -> Pauses:
    """Whether printed durations hold the pauses, by those of which the log states the length."""
    stated = [
        (event.at, event.seconds)
        for event in run.events
        if event.seconds and event.at < len(run) and event.kind in (EventKind.EVAL, EventKind.SAVE)
    ]
    printed = [seconds for seconds in run.seconds if not isnan(seconds)] if stated else []
    if not printed:
        return run.dialect.pauses
    typical = median(printed)
    held, missed = 0, 0
    for at, seconds in stated:
        shown = (run.seconds[at] - typical) * _num_covered(run, at)
        held += shown > 0.5 * seconds
        missed += shown <= 0.5 * seconds
    return Pauses.NONE if missed > held else run.dialect.pauses


def _num_covered(run: Run, index: int) -> int:
    """Steps whose time a printed duration is the average of."""
    if run.dialect.sampling is not Sampling.AVERAGE or index == 0:
        return 1
    return max(1, run.step[index] - run.step[index - 1])
