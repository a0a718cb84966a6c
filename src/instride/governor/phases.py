"""Work and pauses in turn: opens and closes the gate, and says afterwards what each window was.

Between the two, what had begun when the gate was closed comes to its end. That may take a while
where others leave little of the machine, and a pause that is none would show nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Literal, Protocol

import msgspec

from instride.governor.gauge import LEAST_LOOK_S, Look, strain
from instride.governor.model import Decision, Window
from instride.governor.outlook import Strain
from instride.governor.pace import Setting, Tally
from instride.governor.windows import Windows, unit

Kind = Literal["work", "settling", "pause"]

LOOK_AGAIN_S = 1.0
SETTLE_LOOK_S = 0.05
MOST_SETTLING = 3.0
"""Of the shortest window: after that a pause counts as one, whatever still goes on."""
BLIND_S = 1.0
"""Whoever drives this and comes so late may have been stopped, and the work with it."""
REST_S = 10.0
"""How often to look while there is nothing to do: what others needed before that, such as a disk
when a training read its data or was restored, says nothing about now."""
NEW_SPEED = 0.3
"""Weight of the last window in the speed of a thread."""


class Rhythm(Protocol):
    """How long steps take, and how exactly that is known."""

    @property
    def span_s(self) -> float | None: ...
    @property
    def resolution_s(self) -> float: ...


class Paced(Protocol):
    """What is set: a `Pace`."""

    codec_step: int
    may_start: bool

    @property
    def is_active(self) -> bool: ...
    @property
    def is_hurried(self) -> bool: ...
    def set(self, setting: Setting) -> None: ...
    def tally(self) -> Tally: ...


class _Open(msgspec.Struct):
    """The window that goes on now."""

    kind: Kind
    start_s: float
    end_s: float
    effort: float
    tally: Tally
    look: Look
    due_s: float
    """When somebody should look again."""
    is_hurried: bool
    """Nothing was held back when it began."""
    is_blind: bool = False
    """Nobody did: all of this was stopped, or the machine suspended."""


class Phases:
    """`done` is called with each window that is over."""

    def __init__(
        self,
        paced: Paced,
        rhythm: Rhythm,
        look: Callable[[], Look],
        done: Callable[[Window], None],
    ) -> None:
        self._paced = paced
        self._rhythm = rhythm
        self._look = look
        self._done = done
        self._windows = Windows()
        self._open: _Open | None = None
        self._waited_s: float | None = None
        self._ended_s = -inf
        """When the work was done that came last."""
        self._latest = self._rested = look()
        """The last look outside of jobs, and the one before it: all that is seen are others."""
        self.strain = Strain()
        self.most_effort = 1.0
        """What there are threads for: more may be allowed, and would not be made."""
        self.thread_bytes_per_s: float | None = None

    def begin(self, now_s: float, most_effort: float = 1.0) -> None:
        """Work is about to start; what came before it was a pause, unless that was work as well."""
        self.most_effort = most_effort
        self._see(self._rested)
        start_s = max(now_s - self._unit_s, self._ended_s)
        if start_s < now_s:
            self._done(Window(start_s, now_s, "pause"))

    def rest(self, now_s: float) -> None:
        """There is no work; called every `REST_S`, or more often."""
        if now_s - self._latest.at_s >= REST_S:
            self._rested, self._latest = self._latest, self._look()

    def look_anew(self) -> None:
        """Whatever was waited for until now, nobody else was the cause."""
        self._latest = self._rested = self._look()

    def start(self, now_s: float, decision: Decision) -> None:
        self._waited_s = None
        self._enter(now_s, "work" if decision.is_open else "pause", decision)

    def end(self, now_s: float) -> None:
        """The work is done: nothing is held back any more."""
        self._leave(now_s)
        self._ended_s = now_s
        self.look_anew()
        self._paced.set(Setting())
        self._paced.may_start = True

    def advance(
        self, now_s: float, decision: Decision, is_other: bool, waited_s: float = 0.0
    ) -> float:
        """Go on to the next window if this one is over, or something else is set now; returns
        when to come again. `waited_s` is how long whoever drives this has waited for a core so
        far: so much later it may come, and know that nobody had stopped it."""
        window = self._open
        assert window is not None
        starved_s = 0.0 if self._waited_s is None else waited_s - self._waited_s
        self._waited_s = waited_s
        window.is_blind = window.is_blind or now_s > window.due_s + starved_s + BLIND_S
        is_over = now_s >= window.end_s
        if is_over and window.kind == "settling" and self._goes_on(window, now_s):
            window.end_s = now_s + SETTLE_LOOK_S
        elif is_over or is_other:
            self._leave(now_s)
            kind = self._next(window.kind, decision, is_over)
            # A deadline asks for more and more while a pause goes on: that must not begin anew.
            is_due = decision.most_pause_s is not None and not is_over
            self._enter(now_s, kind, decision, window.end_s - now_s if is_due else inf)
        wait_s = min(LOOK_AGAIN_S, self._rhythm.resolution_s or LOOK_AGAIN_S)
        assert self._open is not None
        self._open.due_s = min(self._open.end_s, now_s + wait_s)
        return self._open.due_s

    @property
    def _unit_s(self) -> float:
        return unit(self._rhythm.span_s, self._rhythm.resolution_s)

    def _goes_on(self, window: _Open, now_s: float) -> bool:
        limit_s = MOST_SETTLING * self._unit_s
        return self._paced.is_active and now_s - window.start_s < limit_s

    def _next(self, kind: Kind, decision: Decision, is_over: bool) -> Kind:
        if not decision.is_open:
            return "pause"
        if decision.duty >= 1:
            return "work"
        if not is_over:
            return kind
        return {"work": "settling", "settling": "pause", "pause": "work"}[kind]  # type: ignore[return-value]

    def _enter(
        self, now_s: float, kind: Kind, decision: Decision, most_pause_s: float = inf
    ) -> None:
        self._paced.codec_step = decision.codec_step
        self._paced.may_start = decision.is_open
        self._paced.set(Setting(decision.threads, decision.bytes_per_s, is_open=kind == "work"))
        if kind == "settling":
            length_s = SETTLE_LOOK_S if self._paced.is_active else 0.0
        else:
            length_s = self._windows.next_s(
                kind == "work", decision.duty, self._rhythm.span_s, self._rhythm.resolution_s
            )
            if kind == "pause":
                length_s = min(length_s, most_pause_s, decision.most_pause_s or inf)
        if not length_s:
            self._enter(now_s, "pause", decision)
            return
        effort = min(decision.effort, self.most_effort)
        self._open = _Open(
            kind, now_s, now_s + length_s, effort, self._paced.tally(), self._look(),
            now_s + LOOK_AGAIN_S, self._paced.is_hurried,
        )  # fmt: skip

    def _leave(self, now_s: float) -> None:
        """The window is over: what was it?"""
        window, self._open = self._open, None
        if window is None or now_s <= window.start_s:
            return
        tally = self._paced.tally()
        num_bytes = tally.num_bytes - window.tally.num_bytes
        self._learn_speed(num_bytes, tally.busy_s - window.tally.busy_s)
        kind: Literal["work", "settling", "pause", "hurried", "unclear"] = window.kind
        was_hurried = window.is_hurried or tally.num_hurries > window.tally.num_hurries
        if was_hurried or self._paced.is_hurried:
            kind = "hurried"
        elif window.is_blind:
            kind = "unclear"
        elif window.kind == "work" and not num_bytes and not self._paced.is_active:
            kind = "unclear"  # it was allowed, and there was nothing to do
        elif window.kind == "pause":
            self._see(window.look)
        self._done(Window(window.start_s, now_s, kind, window.effort))

    def _see(self, before: Look) -> None:
        """What others wait for since then. In a moment nothing is seen, and what was seen before
        holds: what is written is read back at once, and a pause may be cut short."""
        after = self._look()
        if after.at_s - before.at_s >= LEAST_LOOK_S:
            self.strain = strain(before, after)

    def _learn_speed(self, num_bytes: int, busy_s: float) -> None:
        if num_bytes > 0 and busy_s > 0:
            speed = num_bytes / busy_s
            old = speed if self.thread_bytes_per_s is None else self.thread_bytes_per_s
            self.thread_bytes_per_s = old + NEW_SPEED * (speed - old)
