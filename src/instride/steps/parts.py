"""Several files of one run: ranks that repeat each other, and parts that follow each other.

Ranks of one run train the same steps at the same time; one of them tells it all. Parts are what a
restart writes into a new file.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from math import isnan
from pathlib import PurePath

import msgspec

from instride.steps.notes import Facts, Note
from instride.steps.readers.contract import LONGEST_LINE, Reader
from instride.steps.recording import Recording
from instride.steps.source import Source

OPENING_STEPS = 50
"""Records that tell ranks from restarts."""
SHARED = 0.5
"""Share of equal steps from which two files may be of one process."""
CLOCKS_APART_S = 60.0
"""Between the clocks of two nodes, and from when one rank prints a step to when another does."""
FEWEST_EQUAL_TIMES = 3
"""Durations that two files must have in common to be copies of each other."""
MOST_NAMED = 3

RANK = re.compile(
    r"(?<![a-z])(?:(?:local|global)[-_]?)?"
    r"(?:rank|node|gpu|local|worker|proc|process|task|device|host)[-_.=]?(\d{1,9})(?!\d)"
    r"|(?:(?<=/)|^)(\d{1,9})(?=/)",
    re.IGNORECASE,
)
"""A rank's number in a path; torchrun has a directory for each rank, with nothing but a number."""
ROTATED = re.compile(r"(.*\.(?:log|out|txt|err))\.(\d{1,3})", re.IGNORECASE)
PACKED = re.compile(r"\.(?:gz|zst|zstd)$", re.IGNORECASE)


class Opening(msgspec.Struct, frozen=True):
    """The first records of a file."""

    steps: list[int]
    seconds: list[float]
    walls: list[float]
    """Times of day at the records; empty where the log has none."""


class Kept(msgspec.Struct):
    """A file that is read, and those that are not because they repeat it."""

    source: Source
    opening: Opening
    left_out: list[Source] = []


def read_opening(source: Source, reader_type: type[Reader]) -> Opening:
    """The first records of a file, as few lines as possible of it."""
    log = Recording(reader_type.dialect)
    reader = reader_type(log)
    longest = None if reader.takes_long_lines else LONGEST_LINE
    for number, line in source.lines():
        if longest is None or len(line) <= longest:
            reader.feed(number, line)
        if len(log.run) >= OPENING_STEPS:
            break
    reader.finish()
    run = log.finish()
    walls = [wall for wall in run.wall[:OPENING_STEPS] if not isnan(wall)]
    if run.first_clock is not None:
        walls.insert(0, run.first_clock.wall)
    has_clock = run.clock_is_absolute
    return Opening(
        list(run.step[:OPENING_STEPS]),
        [seconds for seconds in run.seconds[:OPENING_STEPS] if not isnan(seconds)],
        walls if has_clock else [],
    )


def read_once(sources: Sequence[Source], reader: type[Reader]) -> tuple[list[Source], list[Note]]:
    """Leave out the files that repeat others; the lowest rank stays. Also say so, for the user."""
    kept: list[Kept] = []
    for source in sorted(sources, key=lambda source: _rank(source.name)[1]):
        opening = read_opening(source, reader)
        for other in kept:
            if _repeats(source.name, opening, other):
                other.left_out.append(source)
                break
        else:
            kept.append(Kept(source, opening))
    stays = {id(each.source): each for each in kept}
    in_turn = [stays[id(source)] for source in sources if id(source) in stays]
    notes = [_note(each) for each in kept if each.left_out]
    return [each.source for each in in_turn], notes + _other_runs(in_turn)


def compare_command(before: str, after: str) -> str:
    """What to type where two files are two trainings."""
    return f"instride compare {shlex.quote(before)} {shlex.quote(after)}"


def _other_runs(files: Sequence[Kept]) -> list[Note]:
    """Say which file starts from scratch, as one before it did: it need not be a restart."""
    from_scratch = [each for each in files if _is_from_scratch(each.opening)]
    if len(from_scratch) < 2:
        return []
    before, after = (each.source.name for each in from_scratch[:2])
    facts: Facts = {
        "before": before,
        "after": after,
        "step": from_scratch[1].opening.steps[0],
        "command": compare_command(before, after),
    }
    return [Note("other-run", facts)]


def _is_from_scratch(opening: Opening) -> bool:
    """Whether the first record is of the first steps of a training."""
    first, second = (*opening.steps[:2], 1, 1)[:2]
    return bool(opening.steps) and 0 <= first <= max(1, second - first)


def in_order(sources: Sequence[Source], reader: type[Reader]) -> list[Source]:
    """The files of a directory as they were written: by their first times, or by their names."""
    openings = [read_opening(source, reader) for source in sources]
    by_name = sorted(zip(sources, openings, strict=True), key=lambda each: name_order(each[0].name))
    if all(opening.walls for opening in openings):
        by_name.sort(key=lambda each: each[1].walls[0])
    return [source for source, _ in by_name]


def name_order(name: str) -> tuple[list[str | int], int]:
    """Sorts `part2` before `part10`, and `train.log.1` before the younger `train.log`."""
    name = PACKED.sub("", name)
    age = 0
    if found := ROTATED.fullmatch(name):
        name, age = found[1], int(found[2])
    halves = re.split(r"(\d+)", name.lower())
    return [int(half) if half.isdecimal() else half for half in halves], -age


def _rank(name: str) -> tuple[str, list[int]]:
    """A path with its rank numbers taken out, and these numbers."""
    path = PurePath(name).as_posix()
    return RANK.sub("#", path), [int(found[1] or found[2]) for found in RANK.finditer(path)]


def _repeats(name: str, opening: Opening, other: Kept) -> bool:
    if not _have_same_steps(opening, other.opening):
        return False
    rankless, numbers = _rank(name)
    are_ranks = bool(numbers) and rankless == _rank(other.source.name)[0]
    if opening.walls and other.opening.walls:
        slack_s = CLOCKS_APART_S if are_ranks else 1.0
        return _overlap_s(opening.walls, other.opening.walls) >= -slack_s
    return are_ranks or _is_copy(opening, other.opening)


def _have_same_steps(one: Opening, other: Opening) -> bool:
    few = min(len(set(one.steps)), len(set(other.steps)))
    return few > 0 and len(set(one.steps) & set(other.steps)) >= SHARED * few


def _overlap_s(one: list[float], other: list[float]) -> float:
    """How long two spans of time overlap; negative if they are apart."""
    return min(max(one), max(other)) - max(min(one), min(other))


def _is_copy(one: Opening, other: Opening) -> bool:
    """Whether two files have the same durations, as `tee` and a redirection leave them."""
    few = min(len(one.seconds), len(other.seconds))
    return few >= FEWEST_EQUAL_TIMES and one.seconds[:few] == other.seconds[:few]


def _note(each: Kept) -> Note:
    paths = [each.source.name, *(source.name for source in each.left_out)]
    names = [PurePath(path).name for path in paths]
    stays, *others = names if len(set(names)) == len(names) else paths
    named = ", ".join(others[:MOST_NAMED])
    more = max(0, len(others) - MOST_NAMED)
    return Note("same-steps", {"kept": stays, "left_out": named, "more": more})
