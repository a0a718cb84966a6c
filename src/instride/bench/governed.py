"""What the governor of a writer decided while it saved, from the journal of the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

import msgspec

from instride.bench.report import Decided
from instride.writer.journal import journal_path


class _Line(msgspec.Struct, frozen=True):
    """Of each kind of line, what is of use here."""

    t: float
    kind: str
    step: int | None = None
    threads: int = 0
    bytes_per_s: float | None = None
    duty: float = 0.0
    reason: str = ""

    def decided(self, after_s: float) -> Decided:
        return Decided(after_s, self.threads, self.bytes_per_s, self.duty, self.reason)


def decisions_by_step(store: Path) -> dict[int, list[Decided]]:
    """From the call of each save until it was durable, by the step that it was called with.

    Only what changes something is in a journal: what holds when a save is called comes first.
    """
    found: dict[int, list[Decided]] = {}
    holds: _Line | None = None
    called: tuple[int, float] | None = None
    # A call is noted when all is known of it, behind what was decided meanwhile.
    for line in sorted(_lines(journal_path(store)), key=attrgetter("t")):
        if line.kind == "start":
            holds = called = None
        elif line.kind == "call" and line.step is not None:
            called = line.step, line.t
            found[line.step] = [holds.decided(0.0)] if holds else []
        elif line.kind == "governor":
            holds = line
            if called is not None:
                step, since_s = called
                found[step].append(line.decided(line.t - since_s))
        elif line.kind == "durable":
            called = None
    return found


def _lines(journal: Path) -> Iterator[_Line]:
    decoder = msgspec.json.Decoder(_Line)
    text = b""
    with suppress(OSError):  # a journal is no condition for a save
        text = journal.read_bytes()
    for line in text.splitlines():
        with suppress(msgspec.DecodeError):
            yield decoder.decode(line)
