"""The journal of a store: what happened, a line each, written by the writer alone.

Lines are appended whole, so that a kill loses the last second at most, and never breaks a line. A
thread of its own does it: a disk that hangs must not keep the writer from noticing anything else.
"""

from __future__ import annotations

import queue
import threading
import time
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

from instride.store.journal import Value as Value
from instride.store.journal import append
from instride.store.journal import journal_path as journal_path
from instride.writer.page import JOURNALED, RESTORED, SharedPage
from instride.writer.sayable import sayable

EVERY_S = 1.0
SET_S = 1.0
"""A clock on the wall that moved by so much was set, or the machine slept; who reads the journal
sees that by the steps. By less, it was only corrected, which nobody could tell from a step: to
follow that would put a save behind steps that came after it."""

Timed = tuple[float, dict[str, Value]]
"""A line, and its moment by the monotonic clock."""


class Journal:
    def __init__(self, path: Path, page: SharedPage, *, in_thread: bool = True) -> None:
        """Without a thread, where none can be started any more, whoever notes a line writes it."""
        self._path = path
        self._page = page
        self._lines: queue.SimpleQueue[Timed | None] = queue.SimpleQueue()
        # A writer before this one may have written some of the beats.
        self._beats_seen = page[JOURNALED]
        self._last_beat_s: float | None = page.beat_before(self._beats_seen)
        self._began_s = _monotonic_began_s()
        self._is_closed = False
        self._thread: threading.Thread | None = None
        if in_thread:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()

    def note(self, kind: str, at_s: float | None = None, /, **fields: Value) -> None:
        """Add a line, of now or of an earlier moment by the monotonic clock; returns at once.
        Once it is closed, nothing is noted."""
        if self._is_closed:
            return
        now_s = time.monotonic() if at_s is None else at_s
        line: Timed = (now_s, {"kind": kind, **fields})
        if self._thread is None:
            self._write([line])
        else:
            self._lines.put(line)

    def close(self, timeout_s: float = 5.0) -> None:
        """Write what is left; a disk that hangs is not waited for."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._thread is None:
            self._write([])  # steps that no line has come behind
        else:
            self._lines.put(None)
            self._thread.join(timeout_s)

    def _work(self) -> None:
        is_open = True
        while is_open:
            batch: list[Timed] = []
            is_open = self._gather(batch)
            self._write(batch)

    def _write(self, batch: list[Timed]) -> None:
        with suppress(Exception):  # lines may be lost, but not all that come behind them
            lines = sorted([*self._beats(), *batch], key=itemgetter(0))
            if lines and self._append(self._by_the_wall(lines)):
                self._page[JOURNALED] = self._beats_seen

    def _append(self, lines: list[dict[str, Value]]) -> bool:
        try:
            return append(self._path, lines)
        except Exception:  # one of them cannot be written at all: the others can
            were_written = [self._append_alone(line) for line in lines]
            return all(were_written)

    def _append_alone(self, line: dict[str, Value]) -> bool:
        try:
            return append(self._path, [line])
        except Exception:
            return append(self._path, [{"t": line["t"], "kind": "unsayable", "of": line["kind"]}])

    def _gather(self, batch: list[Timed]) -> bool:
        """Collect lines for a second; False when there will be no more."""
        end = time.monotonic() + EVERY_S
        while (left := end - time.monotonic()) > 0:
            try:
                line = self._lines.get(timeout=left)
            except queue.Empty:
                return True
            if line is None:
                return False
            batch.append(line)
        return True

    def _beats(self) -> list[Timed]:
        """Steps that have passed, and what was restored between them."""
        lines: list[Timed] = []
        num_beats = self._page.num_beats
        beats = self._page.all_since(self._beats_seen, num_beats)
        self._beats_seen = num_beats
        for step, at_s in beats:
            if step <= RESTORED:
                lines.append((at_s, {"kind": "restored", "step": self._page.restored_by(step)}))
                continue
            fields: dict[str, Value] = {"kind": "step", "step": step}
            if self._last_beat_s is not None:
                fields["s"] = round(at_s - self._last_beat_s, 6)
            self._last_beat_s = at_s
            lines.append((at_s, fields))
        return lines

    def _by_the_wall(self, lines: list[Timed]) -> list[dict[str, Value]]:
        """All with one difference between the clocks, so that their order stays what it is."""
        if abs((began_s := _monotonic_began_s()) - self._began_s) > SET_S:
            self._began_s = began_s
        return [
            {"t": round(self._began_s + at_s, 6)}
            | {name: sayable(value) for name, value in fields.items()}
            for at_s, fields in lines
        ]


def _monotonic_began_s() -> float:
    """What the clock on the wall showed then, as it goes now."""
    return time.time() - time.monotonic()
