"""The journal of a store: what happened, a line each, written by the writer alone.

Lines are appended whole, so that a kill loses the last second at most, and never breaks a line. A
thread of its own does it: a disk that hangs must not keep the writer from noticing anything else.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from operator import itemgetter
from pathlib import Path

import msgspec

from instride.places import JOURNAL, PRIVATE
from instride.writer.page import JOURNALED, SharedPage

EVERY_S = 1.0

Value = str | int | float | bool | None | list[str]


def journal_path(directory: Path) -> Path:
    return directory / PRIVATE / JOURNAL


class Journal:
    def __init__(self, path: Path, page: SharedPage) -> None:
        self._path = path
        self._page = page
        self._lines: queue.SimpleQueue[dict[str, Value] | None] = queue.SimpleQueue()
        self._encode = msgspec.json.Encoder().encode
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
            if lines:
                self._append(b"".join(self._encode(line) + b"\n" for line in lines))

    def _append(self, text: bytes) -> None:
        """Opened for each batch: the store may be deleted and made anew. It is not made here."""
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            return  # a store that cannot be written says so by other means
        try:
            os.write(fd, text)
        except OSError:
            return  # a full disk: the next lines may fit again
        finally:
            os.close(fd)
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
