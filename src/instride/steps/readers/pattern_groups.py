"""The groups of a user's pattern, and what makes a pattern unfit."""

from __future__ import annotations

import difflib
import re
from time import perf_counter

from instride.errors import BadPatternError
from instride.reasons import Reason

GROUPS = {
    "step": "the number of the step",
    "seconds": "how long the step took",
    "s": "the same",
    "ms": "the same in milliseconds",
    "minutes": "the same in minutes",
    "per_second": "steps per second",
    "elapsed": "time since the start, in seconds or as 1:02:03",
    "time": "a timestamp",
    "epoch": "the epoch, where steps are counted anew in each",
    "iters": "iterations an epoch",
    "data": "seconds of the step spent waiting for data",
    "eval": "any text that marks an evaluation",
    "save": "any text that marks a save",
}
PROBE_LENGTHS = range(12, 29, 2)
PROBE_UNITS = ("0", "a", " ", "a ", "0.", "a=", "-")
NO_END = "\n\n\0"
"""Neither `$` nor `.` matches here, so that a pattern that needs more has to look for it."""
TOO_SLOW_S = 0.05
"""For a text of 28 characters: only work that doubles with every character takes so long."""


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern, or say in a `BadPatternError` why it cannot be used."""
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPatternError(pattern, Reason("no-regex", {"text": str(error)})) from error
    for name in compiled.groupindex:
        if name not in GROUPS:
            raise BadPatternError(pattern, _unknown(name))
    if not compiled.groupindex:
        raise BadPatternError(pattern, Reason("no-groups"))
    if _is_endless(compiled):
        raise BadPatternError(pattern, Reason("endless"))
    return compiled


def _unknown(name: str) -> Reason:
    nearest = difflib.get_close_matches(name, GROUPS, n=1, cutoff=0.4)
    facts = {"name": name, "names": ", ".join(GROUPS)}
    if nearest:
        return Reason("near-group", {**facts, "nearest": nearest[0]})
    return Reason("unknown-group", facts)


def _is_endless(compiled: re.Pattern[str]) -> bool:
    """Whether the time of a search doubles with every character, as it does for nested repeats.

    Texts that begin as the pattern does and then go on without an end are tried, longer and
    longer. Nested repeats behind other conditions are not found: the user's own lines are short.
    """
    begin = _beginning(compiled.pattern)
    for start in (begin, begin + "1"):
        for unit in PROBE_UNITS:
            for length in PROBE_LENGTHS:
                text = start + unit * (length // len(unit)) + NO_END
                started = perf_counter()
                compiled.search(text)
                if perf_counter() - started > TOO_SLOW_S:
                    return True
    return False


def _beginning(pattern: str) -> str:
    """A text that what stands before the first named group would match, mostly."""
    begin = pattern.partition("(?P<")[0].replace(".*", "").strip("^")
    begin = re.sub(r"\\s[*+?]?", " ", begin)
    return re.sub(r"\\(.)", r"\1", begin)
