"""From logs to a run: find the dialect by content, then feed its reader line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from instride.errors import NoStepsError, UnknownDialectError, nearest
from instride.reasons import Reason
from instride.steps.model import EventKind, Run
from instride.steps.notes import Note
from instride.steps.readers import READERS
from instride.steps.readers.contract import LONGEST_LINE, Reader
from instride.steps.recording import Recording
from instride.steps.source import Source

ENOUGH = 200
"""A particular reader that recognised this many lines is taken without reading on."""
SAMPLE_LINES = 50_000
"""Lines to look at before the dialect is settled; some logs open with thousands of other lines."""


def reader_named(name: str) -> type[Reader]:
    for reader in READERS:
        if reader.dialect.name == name:
            return reader
    names = [reader.dialect.name for reader in READERS]
    raise UnknownDialectError(name, nearest(name, names))


def detect(lines: Iterable[tuple[int, str]]) -> type[Reader] | None:
    """The reader that recognises most lines as steps; the more particular one if they tie.

    A reader that recognises a fifth of what the best does and is more particular wins: some
    trainers print lines of another beside their own. A general reader wins only alone.
    """
    counts = dict.fromkeys(READERS, 0)
    for seen, (_, line) in enumerate(lines):
        if len(line) > LONGEST_LINE:
            candidates = [reader for reader in READERS if reader.takes_long_lines]
        else:
            candidates = list(READERS)
        for reader in candidates:
            if reader.sniff(line):
                counts[reader] += 1
        if seen >= SAMPLE_LINES and any(counts.values()):
            break
        if seen % 500 == 499 and max(counts[r] for r in READERS if not r.is_general) >= ENOUGH:
            break
    particular = {r: count for r, count in counts.items() if count > 1 and not r.is_general}
    counts = particular or counts
    best = max(counts.values())
    if best == 0:
        return None
    return next(reader for reader, count in counts.items() if count * 5 >= best)


def read_with(
    reader_type: type[Reader], sources: Sequence[Source], between: Callable[[], None] | None = None
) -> Run:
    """The run that logs tell of; `between` is called every few thousand lines, and may raise."""
    log = Recording(reader_type.dialect)
    reader = reader_type(log)
    offset = 0
    for position, source in enumerate(sources):
        num_lines = 0
        log.run.line_offsets.append(offset)
        if position and len(log.run):
            log.event(EventKind.START, offset + 1, sure=False)
        for number, text in source.blocks():
            reader.feed_block(number + offset, text)
            if between is not None:
                between()
            num_lines = number + text.count("\n") - text.endswith("\n")
        offset += num_lines
        if source.is_truncated:
            log.note(Note("cut-off", {"name": source.name}))
    reader.finish()
    run = log.finish()
    if not len(run):
        raise NoStepsError(sources[0].name, Reason("lines", {"title": reader_type.dialect.title}))
    return run
