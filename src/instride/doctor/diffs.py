"""Fixes as unified diffs of a repository, which `git apply` takes."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from difflib import unified_diff

from instride.doctor.model import Fix, FixKind
from instride.doctor.repository import PythonFile, TextFile

NO_NEWLINE = "\\ No newline at end of file"


def with_lines(file: TextFile, changed: Mapping[int, Sequence[str]]) -> list[str]:
    """The lines of a file with some replaced, by their numbers from 1; by nothing: removed."""
    lines: list[str] = []
    for number, line in enumerate(file.lines, 1):
        lines.extend(changed.get(number, (line,)))
    return lines


def diff(file: TextFile, changed: Mapping[int, Sequence[str]]) -> Fix | None:
    """A diff that replaces lines; nothing where the file would not be Python any more."""
    lines = with_lines(file, changed)
    if file.newline is None:
        return None
    if isinstance(file, PythonFile) and not _parses("\n".join(lines)):
        return None
    end = file.newline.removesuffix("\n")
    before, after = _ended(file.lines, end), _ended(lines, end)
    hunks = unified_diff(before, after, f"a/{file.path}", f"b/{file.path}", lineterm="", n=2)
    text = "\n".join(hunks)
    return Fix(FixKind.DIFF, text + "\n") if text else None


def _ended(lines: Sequence[str], end: str) -> list[str]:
    """Lines as a diff shows them, with what ends them but `\\n`; a last one without says so."""
    ended = [line + end for line in lines[:-1]]
    if not lines or lines[-1] == "":
        return ended
    return [*ended, f"{lines[-1]}\n{NO_NEWLINE}"]


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
