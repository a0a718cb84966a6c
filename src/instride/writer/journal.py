"""The journal of a store: what happened, a line each, written by the writer alone.

Lines are appended whole, so that a kill loses the last second at most, and never breaks a line. A
thread of its own does it: a disk that hangs must not keep the writer from noticing anything else.
"""

from __future__ import annotations

import queue
import threading
import time
from operator import itemgetter
from pathlib import Path

from instride.store.journal import Value as Value
from instride.store.journal import append
from instride.store.journal import journal_path as journal_path
from instride.writer.page import JOURNALED, SharedPage

EVERY_S = 1.0


class Journal:
    def __init__(self, path: Path, page: SharedPage) -> None:
        self._path = path
        self._page = page
        self._lines: queue.SimpleQueue[dict[str, Value] | None] = queue.SimpleQueue()
        # A writer before this one may have written some of the beats.
        self._beats_seen = page[JOURNALED]
        self._last_beat_s: float | None = page.beat_before(self._beats_seen)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def note(self, kind: str, at_s: float | None = None, **fields: Value) -> None:
        """Add a line, of now or of an earlier moment; returns at once."""
        now_s = time.time() if at_s is None else at_s
        self._lines.put({"t": round(now_s, 6), "kind": kind, **fields})

    def close(self, timeout_s: float = 5.0) -> None:
        """Write what is left; a disk that hangs is not waited for."""
        self._lines.put(None)
        self._thread.join(timeout_s)

    def _work(self) -> None:
        is_open = True
        while is_open:
            batch: list[dict[str, Value]] = []
            is_open = self._gather(batch)
            lines = sorted([*self._beats(), *batch], key=itemgetter("t"))
            if lines and append(self._path, lines):
                self._page[JOURNALED] = self._beats_seen

    def _gather(self, batch: list[dict[str, Value]]) -> bool:
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

    def _beats(self) -> list[dict[str, Value]]:
        """Steps that have passed; their times are monotonic, the journal's are of the wall."""
        offset = time.time() - time.monotonic()
        lines: list[dict[str, Value]] = []
        num_beats = self._page.num_beats
        beats = self._page.beats_since(self._beats_seen, num_beats)
        self._beats_seen = num_beats
        for step, at_s in beats:
            line: dict[str, Value] = {"t": round(at_s + offset, 6), "kind": "step", "step": step}
            if self._last_beat_s is not None:
                line["s"] = round(at_s - self._last_beat_s, 6)
            self._last_beat_s = at_s
            lines.append(line)
        return lines
