r"""The user's own patterns: `--pattern 'step (?P<step>\d+) .* (?P<ms>[\d.]+) ?ms'`, repeatable.

The names of the groups say what they hold (see `pattern_groups`). A pattern with `eval` or `save`
marks a pause. One with neither those nor `step` adds its times to the step that was printed last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from time import perf_counter
from typing import ClassVar

from instride.errors import BadPatternError
from instride.reasons import Reason
from instride.steps.clocks import count
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.notes import Note
from instride.steps.readers.contract import LONGEST_LINE, Reader
from instride.steps.readers.marking import MarkedReader
from instride.steps.readers.pattern_groups import compile_pattern
from instride.steps.recording import Recording

SCALES = {"seconds": 1.0, "s": 1.0, "ms": 1e-3, "minutes": 60.0}
EVENTS = {"eval": EventKind.EVAL, "save": EventKind.SAVE}
TRIED_LENGTH = 512
"""Longer lines are tried piece by piece: a pattern with several `.*` takes hours on long ones."""
SLOW_S = 0.05


def pattern_reader(patterns: Sequence[str]) -> type[Reader]:
    """A reader for logs whose steps the user describes; `BadPatternError` says what is wrong."""
    compiled = tuple(compile_pattern(pattern) for pattern in patterns)
    marks = tuple(p for p in compiled if EVENTS.keys() & p.groupindex.keys())
    steps = tuple(p for p in compiled if "step" in p.groupindex and p not in marks)
    if not steps:
        # The only pattern with a step may mark pauses too, in a group that is optional.
        steps = tuple(p for p in marks if "step" in p.groupindex)
        marks = tuple(p for p in marks if p not in steps)
    if not steps:
        raise BadPatternError(" ".join(patterns), Reason("no-step-group"))
    extras = tuple(p for p in compiled if p not in marks and p not in steps)
    by_rate = any("per_second" in p.groupindex for p in compiled)

    class UserPatternReader(PatternReader):
        dialect: ClassVar = Dialect(
            name="pattern",
            title="your pattern",
            sample=patterns[0],
            pauses=Pauses.SAME,
            sampling=Sampling.AVERAGE if by_rate else Sampling.EVERY_KTH,
        )
        step_patterns = steps
        mark_patterns = marks
        extra_patterns = extras
        own_kinds = frozenset(EVENTS[g] for p in compiled for g in EVENTS if g in p.groupindex)

        @staticmethod
        def sniff(line: str) -> bool:
            return len(line) <= LONGEST_LINE and any(p.search(line) for p in steps)

    return UserPatternReader


class PatternReader(MarkedReader):
    """Reads steps, pauses and times by the user's patterns, the rest by generic markers."""

    step_patterns: ClassVar[tuple[re.Pattern[str], ...]]
    mark_patterns: ClassVar[tuple[re.Pattern[str], ...]]
    extra_patterns: ClassVar[tuple[re.Pattern[str], ...]]

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._longest = LONGEST_LINE
        self._pending: tuple[int, int, float | None, dict[str, str]] | None = None
        """A step that waits for the times of its other lines: line, step, prefix time, groups."""
        self._around: dict[str, str] = {}
        """Epoch and iterations an epoch, from lines of their own."""
        names = {n for p in (*self.step_patterns, *self.extra_patterns) for n in p.groupindex}
        self._has_clock = not names.isdisjoint(("time", "elapsed"))
        if "elapsed" in names and "time" not in names:
            self.use_own_clock()

    def feed(self, number: int, line: str) -> None:
        if len(line) <= self._longest and (len(line) <= TRIED_LENGTH or self._is_fast(line)):
            self._take(number, line)

    def finish(self) -> None:
        self._tell_pending()
        super().finish()

    def mark(
        self,
        kind: EventKind,
        number: int,
        seconds: float | None = None,
        wall: float | None = None,
        step: int | None = None,
    ) -> None:
        self._tell_pending()
        super().mark(kind, number, seconds, wall, step)

    def _is_fast(self, line: str) -> bool:
        """Try growing beginnings of a long line; if one takes too long, skip such lines."""
        length = TRIED_LENGTH
        while length < len(line):
            started = perf_counter()
            for pattern in (*self.mark_patterns, *self.step_patterns, *self.extra_patterns):
                pattern.search(line, 0, length)
            if perf_counter() - started > SLOW_S:
                self._longest = length
                self.log.note(Note("long-lines", {"length": length}))
                return False
            length *= 2
        return True

    def _take(self, number: int, line: str) -> None:
        for pattern in self.mark_patterns:
            if found := pattern.search(line):
                self._mark_found(number, line, _values(found))
                return
        for pattern in self.step_patterns:
            if found := pattern.search(line):
                self._step_found(number, line, found)
                return
        for pattern in self.extra_patterns:
            if found := pattern.search(line):
                values = _values(found)
                self._around |= {n: values[n] for n in ("epoch", "iters") if n in values}
                if self._pending is not None:
                    self._pending[3].update(values)
                return
        self.other(number, line)

    def _mark_found(self, number: int, line: str, values: dict[str, str]) -> None:
        wall = self._wall(values) if "time" in values else self.stamp(line)
        for name, kind in EVENTS.items():
            if name in values:
                self.mark(kind, number, _seconds(values), wall, _whole(values.get("step")))

    def _step_found(self, number: int, line: str, found: re.Match[str]) -> None:
        values = _values(found)
        step = _whole(values.get("step"))
        if step is None:
            self.other(number, line)
            return
        for name, kind in EVENTS.items():
            if name in values:
                self.mark(kind, number)
        self._tell_pending()
        epoch = _whole(values.get("epoch", self._around.get("epoch")))
        if epoch is not None:
            iters = _whole(values.get("iters", self._around.get("iters")))
            step = self.count(number, epoch, step, iters)
        wall = None if self._has_clock else self.stamps.find(line, found.start("step"))
        self._pending = number, step, wall, values
        if not self.extra_patterns:
            self._tell_pending()

    def _tell_pending(self) -> None:
        if self._pending is None:
            return
        number, step, wall, values = self._pending
        self._pending = None
        if self._has_clock:
            wall = self._wall(values)
        self.record(number, step, _seconds(values), wall, _number(values.get("data")))

    def _wall(self, values: dict[str, str]) -> float | None:
        if self.log.run.clock_is_absolute:
            text = values.get("time")
            wall = None if text is None else self.stamps.read(text)
            if text is not None and wall is None:
                self.log.note(Note("no-timestamp", {"text": text[:40]}))
            return wall
        return self.since_start(values.get("elapsed", ""))


def _values(found: re.Match[str]) -> dict[str, str]:
    return {name: text for name, text in found.groupdict().items() if text is not None}


def _seconds(values: dict[str, str]) -> float | None:
    for name, scale in SCALES.items():
        if name in values:
            number = _number(values[name])
            return None if number is None else number * scale
    rate = _number(values.get("per_second"))
    return 1 / rate if rate else None


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else count(text.strip())
    except ValueError:
        return None


def _whole(text: str | None) -> int | None:
    if text is not None and len(text) < 19 and text.isdecimal():
        return int(text)
    number = _number(text)
    try:
        return None if number is None else int(number)
    except (ValueError, OverflowError):
        return None
