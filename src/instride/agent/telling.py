"""Every decision of the agent: a line for people, and the same with its facts in the journal."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

import msgspec

from instride.store.journal import Value, append, journal_path


class Progress(msgspec.Struct, frozen=True):
    """How far the work on a file is."""

    file: str
    done_bytes: int
    total_bytes: int
    note: str = ""
    """What holds it back, or what the governor decided."""


class Reporter(Protocol):
    """Somebody who looks on: a terminal, a log, a test."""

    def line(self, text: str) -> None: ...

    def progress(self, progress: Progress | None) -> None:
        """How far it is; None: nothing is being worked on."""


class Teller:
    """Says things about one directory."""

    def __init__(self, directory: Path, reporter: Reporter) -> None:
        self._directory = directory
        self._reporter = reporter
        self._said: set[str] = set()

    def tell(self, kind: str, text: str, **facts: Value) -> None:
        """To people, and to the journal as `agent-KIND`."""
        self._reporter.line(text)
        self.note(kind, text=text, **facts)

    def tell_once(self, key: str, kind: str, text: str, **facts: Value) -> None:
        """What stays true is not said at every look."""
        if key not in self._said:
            self._said.add(key)
            self.tell(kind, text, **facts)

    def forget(self, key: str) -> None:
        """It is not true any more, and may be said again."""
        self._said.discard(key)

    def note(self, kind: str, **facts: Value) -> None:
        """To the journal alone."""
        line = {"t": round(time.time(), 6), "kind": f"agent-{kind}", **facts}
        if isinstance(text := line.get("text"), str):  # with the path of a directory in it
            line["text"] = text.encode("utf-8", "replace").decode()
        append(journal_path(self._directory), [line])


def size_text(num_bytes: float) -> str:
    """As `ls -h` would say it, in powers of ten."""
    value, unit = float(num_bytes), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(value) < 1000 or unit == "TB":
            break
        value /= 1000
    digits = 0 if unit == "B" or abs(value) >= 100 else 1
    return f"{value:.{digits}f} {unit}"


def saved_text(num_bytes: int) -> str:
    """What cannot be compressed becomes a little larger."""
    if num_bytes < 0:
        return f"saved nothing, {size_text(-num_bytes)} more"
    return f"saved {size_text(num_bytes)}"


def share_text(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.0f} %"
