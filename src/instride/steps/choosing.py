"""Which files to read, and with which reader."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from instride.places import JOURNAL, PRIVATE
from instride.reasons import Reason
from instride.steps.notes import Note
from instride.steps.outside_bars import trained_outside
from instride.steps.parts import MOST_NAMED, compare_command, in_order, name_order, read_once
from instride.steps.readers import READERS
from instride.steps.readers.contract import Reader
from instride.steps.readers.guess import guess
from instride.steps.readers.journal import Journal
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
    notes: list[Note]
    """What was left out, for the user."""


def choose(logs: Sequence[str], dialect: str | None, patterns: Sequence[str]) -> Choice:
    """The files behind what the user named, and their reader.

    A directory stands for the logs in it, in the order in which they were written. Files keep the
    order in which they are named. Ranks of one run are read once.
    """
    asked = _asked(dialect, patterns)
    sources: list[Source] = []
    notes: list[Note] = []
    for log in logs:
        if log not in ("", "-") and _is(Path(log).is_dir):
            found, left_out = _logs_in(Path(log), asked)
            sources += found
            notes += left_out
        elif log:
            sources.append(Source(log))
        else:
            raise UnreadableLogError(log, Reason("empty-name"))
    if len(sources) > 1:
        sources, left_out = _without_empty(sources)
        notes += left_out
    reader = choose_reader(sources, dialect, patterns)
    if len(sources) > 1 and asked is None:
        sources, left_out = _without_other_trainers(sources, reader)
        notes += left_out
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
            return (found.is_general and trained_outside(found, source)) or found
    for source in sources:
        if (guessed := guess(source.lines())) is not None:
            return guessed.reader
    raise NoStepsError(sources[0].name, Reason("dialects", {"count": len(READERS)}))


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


def _without_empty(sources: list[Source]) -> tuple[list[Source], list[Note]]:
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
    return full, [Note("empty-file", {"name": source.name}) for source, _ in empty]


def _without_other_trainers(
    sources: list[Source], reader: type[Reader]
) -> tuple[list[Source], list[Note]]:
    """Leave out logs of another trainer that has no step for the reader: they are no parts."""
    kept: list[Source] = []
    others: dict[type[Reader], list[Source]] = {}
    for source in sources:
        if _recognise(source, reader) is None and (found := detect(source.lines())) is not None:
            others.setdefault(found, []).append(source)
        else:
            kept.append(source)
    return kept, _other_trainers(kept, reader, others)


def _other_trainers(
    kept: Sequence[Source], reader: type[Reader], others: Mapping[type[Reader], list[Source]]
) -> list[Note]:
    """Say which logs are not read, and how to compare them with those that are."""
    return [
        Note(
            "other-trainer",
            {
                "trainer": reader.dialect.title,
                "other": other.dialect.title,
                "left_out": ", ".join(source.name for source in sources[:MOST_NAMED]),
                "more": max(0, len(sources) - MOST_NAMED),
                "command": compare_command(kept[0].name, sources[0].name),
            },
        )
        for other, sources in others.items()
        if not other.is_general
    ]


def _logs_in(directory: Path, asked: type[Reader] | None) -> tuple[list[Source], list[Note]]:
    """Files of a directory in which steps are found, of the dialect that most of them have.

    A journal is better than any log beside it.
    """
    if asked in (None, Journal) and (journal := _journal_of(directory)) is not None:
        return [Source(str(journal))], []
    num_files = 0
    for paths in _levels(directory):
        num_files += len(paths)
        logs = [path for path in paths if LOG_NAME.fullmatch(path.name)]
        found = _by_reader([Source(str(path)) for path in logs[:MOST_FILES]], asked)
        if found:
            reader = max(found, key=lambda each: len(found[each]))
            sources = in_order(found.pop(reader), reader)
            return sources, _other_trainers(sources, reader, found)
    raise NoLogsError(str(directory), num_files)


def _journal_of(directory: Path) -> Path | None:
    """The journal of a directory of checkpoints, if it has a step."""
    for path in (directory / JOURNAL, directory / PRIVATE / JOURNAL):
        with suppress(InstrideError):
            if _is(path.is_file) and _recognise(Source(str(path)), Journal) is not None:
                return path
    return None


def _levels(directory: Path) -> Iterator[list[Path]]:
    """The files in a directory; then those below it, for launchers that sort logs by rank."""

    def fail(error: OSError) -> None:
        if error.filename == str(directory):
            raise UnreadableLogError(str(directory), Reason.of(error)) from error

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
