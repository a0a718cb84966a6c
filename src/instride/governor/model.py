"""What the parts of the governor say to each other: steps, windows, decisions, costs."""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

BUDGET = 0.02
"""Share of step time that background work may cost, where nobody says otherwise."""

Mode = Literal["share", "after"]
"""`share`: work beside the training, within the budget; `after`: only while nothing trains."""

Training = Literal["runs", "paused", "over"]
"""What is seen of the training; paused: it lives, or something does, and no step ends."""

Value = str | int | float | bool | None


class Step(msgspec.Struct, frozen=True, gc=False):
    """A step that has ended, or a record of several, by the monotonic clock."""

    end_s: float
    seconds: float
    """Of one step."""
    span_s: float
    """That it tells of: longer than `seconds` where a record stands for several steps."""

    @property
    def start_s(self) -> float:
        return self.end_s - self.span_s

    @property
    def count(self) -> int:
        """How many steps these are."""
        return max(1, round(self.span_s / self.seconds))


class StepSource(Protocol):
    """Where step times come from."""

    @property
    def resolution_s(self) -> float:
        """How far off the end of a step may be."""
        ...

    def read(self, now_s: float) -> list[Step]:
        """Steps that ended since the last call, oldest first."""
        ...


class Window(msgspec.Struct, frozen=True):
    """A stretch of time, by what the governor let happen in it."""

    start_s: float
    end_s: float
    kind: Literal["work", "settling", "pause", "hurried", "unclear"]
    """`settling`: no more may begin, and what had begun comes to its end. `hurried`: somebody
    waited, and for some of it nothing was held back. `unclear`: between two jobs, or work was
    allowed and there was none."""
    effort: float = 0.0
    """How much of what could be done was allowed."""

    @property
    def is_work(self) -> bool:
        return self.kind == "work"


class Decision(msgspec.Struct, frozen=True):
    """What the governor sets, and why."""

    threads: int
    bytes_per_s: float | None
    """None: as fast as it goes."""
    duty: float
    """Share of the time in which work may be done; the rest is pauses."""
    codec_step: int
    """0: as configured; 1: lighter; 2: none."""
    is_open: bool
    """False: nothing may be done at all."""
    reason: str
    """One word for it, the same for the same rule."""
    why: str
    effort: float
    """Threads and bytes per second in one number: 1 is all that there is."""
    most_pause_s: float | None = None
    """What a deadline leaves for a pause; None while none counts."""

    def fields(self) -> dict[str, Value]:
        """Flat, for a journal."""
        return {
            "threads": self.threads,
            "bytes_per_s": None if self.bytes_per_s is None else round(self.bytes_per_s),
            "duty": round(self.duty, 3),
            "codec_step": self.codec_step,
            "is_open": self.is_open,
            "reason": self.reason,
            "why": self.why,
        }


class Cost(msgspec.Struct, frozen=True):
    """What a piece of background work cost the training."""

    share: float | None
    """Of the step time, while it went on; None where that cannot be told."""
    plus_minus: float | None
    """Half of a 95 % interval around it."""
    seconds: float
    """How long the work went on."""
    num_bytes: int
    """That were worked on."""
    num_steps_needed: int | None
    """How many more steps it takes to tell; None if no steps are seen at all."""

    @property
    def is_known(self) -> bool:
        return self.share is not None

    def text(self) -> str:
        """For people: what share it cost, how sure that is, and for how long."""
        lasted = f"for {self.seconds:.0f} s"
        if self.share is not None and self.plus_minus is not None:
            share, plus_minus = 100 * self.share, 100 * self.plus_minus
            return f"cost training {share:.1f} % \u00b1 {plus_minus:.1f} {lasted}"
        if self.num_steps_needed is None:
            return f"cost training: unknown {lasted}, no steps were seen"
        return f"cost training: unknown yet {lasted}, {self.num_steps_needed} more steps would tell"
