"""`--follow`: keep reading a log that is being written, and show the screen anew.

The log may not exist yet, be empty, be cut or be replaced: following goes on.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

import msgspec
from rich.console import Console

from instride.cli.render.text import make_console, print_explanation
from instride.errors import (
    EmptyLogError,
    InstrideError,
    NoStepsError,
    NoTimesError,
    UnreadableLogError,
)
from instride.explain.explaining import Explanation, explain
from instride.explain.languages import DEFAULT, LANGUAGES
from instride.explain.languages.words import Words
from instride.reasons import Reason
from instride.steps.choosing import choose_reader
from instride.steps.reading import read_with
from instride.steps.source import Source

PAUSE_S = 2.0
SHARE = 0.1
"""Of the time, at most, that is spent reading: a long log is looked at less often."""


class Seen(msgspec.Struct, frozen=True):
    """What tells whether a log has changed."""

    inode: int
    num_bytes: int
    changed_ns: int


def look(path: str) -> Seen | None:
    """The state of the log now; None while it is not there."""
    try:
        stat = Path(path).stat()
    except OSError:
        return None
    return Seen(stat.st_ino, stat.st_size, stat.st_mtime_ns)


def follow_log(
    path: str,
    dialect: str | None,
    patterns: Sequence[str],
    console: Console | None = None,
    sleep: Callable[[float], None] = time.sleep,
    language: Words = LANGUAGES[DEFAULT],
    mtbf_s: float | None = None,
) -> None:
    """Show the explanation whenever the log has grown, until interrupted or the pipe ends."""
    if dialect is not None or patterns:
        # A wrong name or pattern is said now, not when the log has come.
        choose_reader([], dialect, patterns)
    with _Pipe() if path == "-" else nullcontext() as pipe:
        source = pipe.path if pipe else path
        screen = _Screen(path, source, dialect, patterns, console, language, mtbf_s)
        while True:
            is_over = pipe is not None and pipe.is_over
            begun = time.monotonic()
            screen.refresh()
            if pipe is not None and is_over:
                pipe.check()
                screen.close()
                return
            sleep(max(PAUSE_S, (time.monotonic() - begun) / SHARE))


class _Screen:
    """What is shown of the log, and whether it is still up to date."""

    def __init__(
        self,
        name: str,
        path: str,
        dialect: str | None,
        patterns: Sequence[str],
        console: Console | None,
        language: Words,
        mtbf_s: float | None,
    ) -> None:
        self.console = console or make_console()
        self._language, self._mtbf_s = language, mtbf_s
        self._name, self._path, self._dialect, self._patterns = name, path, dialect, patterns
        self._seen: Seen | None = None
        self._said = ""
        self._problem: InstrideError | None = None

    def refresh(self) -> None:
        """Show the log if it has changed since the last time."""
        now = look(self._path)
        if now is None:
            self._say(self._language.show_waiting(self._name))
        elif now != self._seen:
            self._show()
        self._seen = now

    def close(self) -> None:
        """Nothing more will come: what was a problem until now is one for good."""
        if self._problem is not None:
            raise self._problem

    def _show(self) -> None:
        self._problem = None
        try:
            explanation = self._explain()
        except (EmptyLogError, NoStepsError, NoTimesError) as error:
            self._problem = error
            self._say(self._language.show_nothing_yet(self._language.complaint(error)[0]))
            return
        except UnreadableLogError:
            if look(self._path) is not None:
                raise
            return
        self._said = ""
        if self.console.is_terminal:
            self.console.clear()
        else:
            self.console.rule()
        print_explanation(explanation, self.console, True, self._language)

    def _say(self, text: str) -> None:
        """Say why nothing is shown, once."""
        if text != self._said:
            self.console.print(text, style="dim", markup=False, highlight=False)
        self._said = text

    def _explain(self) -> Explanation:
        source = Source(self._path, self._name)
        reader = choose_reader([source], self._dialect, self._patterns)
        return explain(read_with(reader, [source]), [source], self._mtbf_s)


class _Pipe:
    """Standard input, copied to a temporary file as it comes: a pipe cannot be read twice."""

    def __init__(self) -> None:
        if sys.stdin is None:
            raise UnreadableLogError("-", Reason("closed-input"))
        self.is_over = False
        self._problem: OSError | None = None
        self._input = sys.stdin.fileno()
        self._output, self.path = tempfile.mkstemp(prefix="instride-", suffix=".log")

    def __enter__(self) -> _Pipe:
        threading.Thread(target=self._copy, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            Path(self.path).unlink()

    def check(self) -> None:
        """Raise what ended the pipe, if it was not its end."""
        if self._problem is not None:
            raise UnreadableLogError("-", Reason.of(self._problem)) from self._problem

    def _copy(self) -> None:
        try:
            while block := os.read(self._input, 1 << 16):
                while block:
                    block = block[os.write(self._output, block) :]
        except OSError as error:
            self._problem = error
        finally:
            os.close(self._output)
            self.is_over = True
