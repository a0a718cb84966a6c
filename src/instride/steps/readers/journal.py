"""The journal of a store, `.instride/journal.jsonl`: what the writer of `instride.Saver` notes.

    {"t":1767225590.0,"kind":"restored","step":119}
    {"t":1767225600.25,"kind":"step","step":120,"s":0.153}
    {"t":1767225600.26,"kind":"call","id":3,"step":120,"s":0.004,"waited_s":0.0}
    {"t":1767225606.4,"kind":"durable","id":3,"path":"...","bytes":15800000000,"s":6.1,"staged_s":0.2}

The best log there is: every step by a monotonic clock, and what each save cost, as it was measured.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Annotated, ClassVar

import msgspec

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.notes import Facts, Note
from instride.steps.readers.contract import Reader
from instride.steps.readers.journal_steps import Beat, Call, Numbering, Restored
from instride.steps.recording import LATEST, LONGEST_S, Recording

STEP = re.compile(
    r'\{"t":(\d{1,11}(?:\.\d{1,9})?),"kind":"step","step":(-1|\d{1,15})'
    r'(?:,"s":(\d{1,9}(?:\.\d{1,9})?(?:e-\d{1,2})?))?\}'
)
HELD = 1 << 14
"""Steps that are held back: a save is noted when all of it is known, some steps after its call."""
BEGIN = '{"t":'
OF_AGENT = "agent-"
"""How kinds of lines begin that say nothing of a training: the agent may come long after it."""
JUMP_S = 0.5
"""A clock that differs so much from the monotonic one was set."""
Whole = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]
Seconds = Annotated[float, msgspec.Meta(ge=0, lt=LONGEST_S)]
"""A line with a number beyond these is damaged; a step from there on would fit into no column."""


class Line(msgspec.Struct, frozen=True):
    """What is not a step; of each kind, what is of use here."""

    t: Annotated[float, msgspec.Meta(ge=0, lt=LATEST)]
    kind: str
    s: Seconds | None = None
    step: Whole | None = None
    id: Whole | None = None
    staged_s: Seconds | None = None
    bytes: Whole = 0
    host: str | None = None
    trainer_pid: Whole | None = None
    trainer_started: Whole | None = None
    path: str = ""
    why: str = ""


class Journal(Reader):
    """A step lasts from one beat to the next, so that what `save()` cost after step N is in the
    time of the step that follows. What the writer does in the background is no pause: its lines
    only tell that time passed.
    """

    dialect: ClassVar = Dialect(
        name="journal",
        title="instride journal",
        sample='{"t":1767225600.25,"kind":"step","step":120,"s":0.153}',
        pauses=Pauses.NEXT,
        sampling=Sampling.EVERY_STEP,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._decode = msgspec.json.Decoder(Line).decode
        self._trainer: tuple[object, ...] | None = None
        self._beats: list[Beat] = []
        self._calls: dict[tuple[int | None, int | None], Call] = {}
        """Saves that are not recorded yet, by id and step: a writer that is started again for the
        same training notes them again."""
        self._restored: Restored | None = None
        """What the next step goes on from, if that was said."""
        self._numbering = Numbering()
        self._last_wall: float | None = None
        self._jump_s = 0.0
        """By how much the wall clock was set since the first line."""
        self._alive: tuple[float, int] | None = None
        """When, and in which line, the training was last known to live."""
        self._is_over = False
        self._failures: dict[str, str] = {}

    @staticmethod
    def sniff(line: str) -> bool:
        return '"kind":"step"' in line and STEP.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if '"kind":"step"' in line and (found := STEP.search(line)):
            took = None if found[3] is None else float(found[3])
            self._beat(number, int(found[2]), float(found[1]), took)
        elif '"kind":"' in line:
            self._other(number, line)

    def finish(self) -> None:
        self._end_process()
        if self._numbering.has_counted:
            begun_at = self._numbering.guessed_step
            told: Facts = {} if begun_at is None else {"begun_at": begun_at}
            self.log.note(Note("counted-beats", told))
        if self._failures:
            name, why = list(self._failures.items())[-1]
            facts: Facts = {"count": len(self._failures), "name": name, "why": why}
            self.log.note(Note("failed-saves", facts))

    def _beat(self, number: int, step: int, wall: float, took: float | None) -> None:
        wall -= self._jump_s
        if took is not None and self._last_wall is not None:
            drift = wall - self._last_wall - took
            if abs(drift) > JUMP_S:  # the clock was set, which makes no step longer
                self._jump_s += drift
                wall -= drift
        self._last_wall = wall
        self._beats.append(Beat(step, number, took, wall, self._restored))
        self._restored = None
        if len(self._beats) >= 2 * HELD:
            self._release(HELD)

    def _other(self, number: int, text: str) -> None:
        try:
            # Behind half a line, which a machine that lost its power leaves, there is a whole one.
            line = self._decode(text[text.rindex(BEGIN) :])
        except (ValueError, RecursionError):  # cut off by a crash, damaged, or no line of ours
            return
        if line.kind.startswith(OF_AGENT):
            return
        wall = line.t - self._jump_s
        if line.kind == "start":
            self._start(number, line, wall)
        elif line.kind == "restored":
            self._restored = Restored(line.step, number, wall)
        elif line.kind == "call":
            self._calls[line.id, line.step] = Call(line.id, line.step, line.s, wall, number)
        elif line.kind == "failed":
            self._failures[line.path.rpartition("/")[2]] = line.why
        elif line.kind == "durable":
            self._failures.pop(line.path.rpartition("/")[2], None)
            self._note_durable(line.id)
            if line.s is not None and line.s == line.staged_s:
                # Training waited for the file; else the call tells nothing of the disk.
                self.log.size(line.bytes, number)
        if not self._is_over:
            self._alive = wall, number
        # What follows is of the writer, which outlives the training.
        self._is_over = self._is_over or line.kind == "end"

    def _start(self, number: int, line: Line, wall: float) -> None:
        """A writer has started: for another training, or again for the one whose writer died.

        One that ended in order was of a `Saver` that was closed.
        """
        trainer = (line.host, line.trainer_pid, line.trainer_started)
        is_another = trainer != self._trainer or self._is_over
        self._is_over = False
        if is_another:
            self._end_process()
            self._numbering.begin_process(is_anew=self._trainer not in (None, trainer))
            self._trainer = trainer
            self.log.event(EventKind.START, number, wall=wall)
            self.log.clock(wall, number)

    def _end_process(self) -> None:
        self._release(0)
        self._calls.clear()
        self._restored = None
        if self._alive is not None and (
            self._last_wall is None or self._alive[0] > self._last_wall
        ):
            self.log.clock(*self._alive)
        self._alive = self._last_wall = None

    def _release(self, num_held: int) -> None:
        """Record the beats but for the last so many, each save behind the step that it is of."""
        self._beats = self._numbering.number(self._beats, self._calls.values())
        walls = [beat.wall for beat in self._beats]
        behind: dict[int, list[Call]] = {}
        for call in self._calls.values():
            behind.setdefault(self._place(call, walls), []).append(call)
        num_out = len(self._beats) - num_held
        for place in range(num_out + 1):
            if place:
                beat = self._beats[place - 1]
                if (back := beat.restored) is not None and back.step is not None:
                    self.log.event(EventKind.LOAD, back.line, wall=back.wall, step=back.step)
                    _begin_behind(back, beat, behind.get(place - 1, ()))
                self.log.step(beat.step, beat.line, beat.seconds, beat.wall)
            for call in behind.get(place, ()):
                self.log.event(EventKind.SAVE, call.line, call.seconds, call.wall, call.step)
        self._calls = {
            key: call for key, call in self._calls.items() if self._place(call, walls) > num_out
        }
        del self._beats[:num_out]

    def _place(self, call: Call, walls: list[float]) -> int:
        """How many beats come before a save: by the clock, whose last digits may be late."""
        place = bisect_right(walls, call.wall)
        is_late = place < len(walls) and self._beats[place].step == call.step
        return place + 1 if is_late else place

    def _note_durable(self, id: int | None) -> None:
        for call in self._calls.values():
            if call.id == id and call.step is not None:
                self._numbering.durable_step = call.step


def _begin_behind(back: Restored, beat: Beat, calls: Iterable[Call]) -> None:
    """Let a step begin when its training was restored: the time until then is nobody's step.

    What saves before that took is still in it, as ever, since there it is looked for.
    """
    saved_s = sum(call.seconds or 0.0 for call in calls if call.wall < back.wall)
    since_s = beat.wall - back.wall
    if beat.seconds is not None and since_s >= 0:
        beat.seconds = min(beat.seconds, since_s + saved_s)
