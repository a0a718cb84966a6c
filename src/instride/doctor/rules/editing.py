"""Changes of a Python file that end as a diff: pieces replaced, lines put in."""

from __future__ import annotations

import ast

from instride.doctor.diffs import diff
from instride.doctor.model import Fix
from instride.doctor.repository import PythonFile
from instride.doctor.repository.python import FunctionNode


class Edits:
    """Changes of one file, all given by the lines that it has now."""

    def __init__(self, file: PythonFile) -> None:
        self._file = file
        self._lines = list(file.lines)
        self._before: dict[int, list[str]] = {}
        self._after: dict[int, list[str]] = {}
        self._changed: set[int] = set()
        self._removed: set[int] = set()

    def indent(self, node: ast.stmt) -> str:
        """What stands before a statement in its line; nothing but spaces and tabs."""
        line = self._file.lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def replace(self, node: ast.expr, text: str) -> None:
        """Put something else for an expression; of several in one line, the last one first."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        head = self._lines[first].encode()[: node.col_offset].decode()
        tail = self._lines[last].encode()[node.end_col_offset or 0 :].decode()
        self._lines[first] = head + text + tail
        self._changed.add(first + 1)
        self._removed.update(range(first + 2, last + 2))

    def remove(self, node: ast.stmt) -> None:
        self._removed.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def drop(self, node: ast.stmt) -> None:
        """Take a statement away, and leave a `pass` where its block would be empty."""
        parent = self._file.parent(node)
        blocks = [getattr(parent, name, None) for name in ("body", "orelse", "finalbody")]
        if [node] in blocks:
            self.before(node.lineno, f"{self.indent(node)}pass")
        self.remove(node)

    def before(self, line: int, *lines: str) -> None:
        self._before.setdefault(line, []).extend(lines)

    def after(self, line: int, *lines: str) -> None:
        self._after.setdefault(line, []).extend(lines)

    def need(self, *modules: str) -> None:
        """Import modules where the file does not do so at its top."""
        first, _ = _imports(self._file)
        there = {
            alias.asname or alias.name
            for each in self._file.tree.body
            if isinstance(each, ast.Import)
            for alias in each.names
        }
        missing = sorted(set(modules) - there)
        if missing:
            self.before(first, *(f"import {each}" for each in missing))

    def define(self, *lines: str) -> None:
        """Put a function after the imports."""
        _, last = _imports(self._file)
        self.after(last, "", "", *lines)

    def fix(self) -> Fix | None:
        """The diff; nothing where it would not be Python any more."""
        numbers = {*self._before, *self._after, *self._changed, *self._removed}
        changed = {}
        for number in numbers:
            own = [] if number in self._removed else [self._lines[number - 1]]
            before, after = self._before.get(number, []), self._after.get(number, [])
            changed[number] = [*before, *own, *after]
        return diff(self._file, changed)


def _imports(file: PythonFile) -> tuple[int, int]:
    """The lines of the first and of the last import at the top of a file."""
    body = file.tree.body
    found = [
        each
        for each in body
        if isinstance(each, ast.Import | ast.ImportFrom)
        and not (isinstance(each, ast.ImportFrom) and each.module == "__future__")
    ]
    if not found:
        return 1, 1
    first = found[0]
    last = first
    for each in body[body.index(first) :]:
        if isinstance(each, FunctionNode | ast.ClassDef):
            break
        if isinstance(each, ast.Import | ast.ImportFrom):
            last = each
    return first.lineno, last.end_lineno or last.lineno
