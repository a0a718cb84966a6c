"""Which files to read, and with which reader."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec

from instride.errors import (
    EmptyLogError,
    InstrideError,
    NoLogsError,
    NoStepsError,
    UnreadableLogError,
)
from instride.steps.parts import in_order, name_order, read_once
from instride.steps.readers import READERS
from instride.steps.readers.contract import Reader
from instride.steps.readers.guess import guess
from instride.steps.readers.pattern import pattern_reader
from instride.steps.reading import SAMPLE_LINES, detect, reader_named
from instride.steps.source import Source

LOG_NAME = re.compile(
    r"(?:.*[._-])?(?:log|out|txt|err|jsonl|json|csv|stdout|stderr|[oe]\d+)(?:[._-]?\d+)?"
    r"(?:\.(?:gz|zst|zstd))?|.*\.(?:gz|zst|zstd)",
    re.IGNORECASE,
)
MOST_FILES = 200
DEEPEST = 4
"""Levels of directories below the one that was named, where that one has no logs itself."""


class Choice(msgspec.Struct, frozen=True):
    """What is going to be read."""

    reader: type[Reader]
    sources: list[Source]
    notes: list[str]
    """What was left out, for the user."""


def choose(logs: Sequence[str], dialect: str | None, patterns: Sequence[str]) -> Choice:
    """The files behind what the user named, and their reader.

    A directory stands for the logs in it, in the order in which they were written. Files keep the
    order in which they are named. Ranks of one run are read once.
    """
    asked = _asked(dialect, patterns)
    sources: list[Source] = []
    for log in logs:
        if log not in ("", "-") and _is(Path(log).is_dir):
            sources += _logs_in(Path(log), asked)
        elif log:
            sources.append(Source(log))
        else:
            raise UnreadableLogError(log, "it is an empty name")
    notes: list[str] = []
    if len(sources) > 1:
        sources, notes = _without_empty(sources)
    reader = choose_reader(sources, dialect, patterns)
    if len(sources) > 1:
        sources, left_out = read_once(sources, reader)
        notes += left_out
    return Choice(reader, sources, notes)


def choose_reader(
    sources: Sequence[Source], dialect: str | None, patterns: Sequence[str]
) -> type[Reader]:
    """The reader that was asked for, or the one that recognises the log, or a guessed one."""
    if (asked := _asked(dialect, patterns)) is not None:
        return asked
    for source in sources:
        if (found := detect(source.lines())) is not None:
            return found
    for source in sources:
        if (guessed := guess(source.lines())) is not None:
            return guessed.reader
    raise NoStepsError(sources[0].name, f"{len(READERS)} dialects, then guessed")


def _asked(dialect: str | None, patterns: Sequence[str]) -> type[Reader] | None:
    if patterns:
        return pattern_reader(patterns)
    return None if dialect is None else reader_named(dialect)


def _is(question: Callable[[], bool]) -> bool:
    """The answer about a path; no if it cannot be had: opening the file will say why."""
    try:
        return question()
    except OSError:
        return False


def _without_empty(sources: list[Source]) -> tuple[list[Source], list[str]]:
    """Leave out files without a byte, as launches that failed leave them, unless all are."""
    full, empty = [], []
    for source in sources:
        try:
            next(source.lines(), None)
        except EmptyLogError as error:
            empty.append((source, error))
        else:
            full.append(source)
    if not full:
        raise empty[0][1]
    return full, [f"Left out, for it is empty: {source.name}." for source, _ in empty]


def _logs_in(directory: Path, asked: type[Reader] | None) -> list[Source]:
    """Files of a directory in which steps are found, of the dialect that most of them have."""
    num_files = 0
    for paths in _levels(directory):
        num_files += len(paths)
        logs = [path for path in paths if LOG_NAME.fullmatch(path.name)]
        found = _by_reader([Source(str(path)) for path in logs[:MOST_FILES]], asked)
        if found:
            reader, sources = max(found.items(), key=lambda each: len(each[1]))
            return in_order(sources, reader)
    raise NoLogsError(str(directory), num_files)


def _levels(directory: Path) -> Iterator[list[Path]]:
    """The files in a directory; then those below it, for launchers that sort logs by rank."""

    def fail(error: OSError) -> None:
        if error.filename == str(directory):
            raise UnreadableLogError(str(directory), error.strerror or str(error)) from error

    below: list[Path] = []
    for root, folders, names in os.walk(directory, onerror=fail):
        paths = [Path(root, name) for name in names]
        depth = len(Path(root).relative_to(directory).parts)
        visible = [name for name in folders if not name.startswith(".")]
        folders[:] = sorted(visible, key=name_order) if depth < DEEPEST else []
        if depth == 0:
            yield _once(paths)
        below += paths if depth else []
        if len(below) > 10 * MOST_FILES:
            break
    yield _once(below)


def _once(paths: list[Path]) -> list[Path]:
    """Files by name, each once, also where a link such as `latest.log` points to it."""
    files = [path for path in paths if _is(path.is_file)]
    # The last one of a key stays, so links come first.
    files.sort(key=lambda path: not path.is_symlink())
    unique = {path.resolve(): path for path in files}
    return sorted(unique.values(), key=lambda path: name_order(str(path)))


def _by_reader(
    sources: Sequence[Source], asked: type[Reader] | None
) -> dict[type[Reader], list[Source]]:
    """Sources in which steps are found, by their readers; guessed if none is known.

    What is empty, binary or may not be read is passed over: nobody named it.
    """
    found: dict[type[Reader], list[Source]] = {}
    for source in sources:
        with suppress(InstrideError):
            if (reader := _recognise(source, asked)) is not None:
                found.setdefault(reader, []).append(source)
    for source in sources if not found and asked is None else ():
        with suppress(InstrideError):
            if (guessed := guess(source.lines())) is not None:
                return _by_reader(sources, guessed.reader)
    return found


def _recognise(source: Source, asked: type[Reader] | None) -> type[Reader] | None:
    lines = islice(source.lines(), SAMPLE_LINES)
    if asked is None:
        return detect(lines)
    return asked if any(asked.sniff(line) for _, line in lines) else None
