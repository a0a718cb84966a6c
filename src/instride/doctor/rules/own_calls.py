"""Where a repository saves with instride already."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from instride.doctor.repository import PythonFile
from instride.doctor.rules.values import values_of

SAVERS = {"instride.Saver", "instride.saver.saver.Saver"}
SAVES = {"instride.save", "instride.saver.functions.save"}


def saves_otherwise(file: PythonFile, node: ast.AST) -> bool:
    """Whether code only runs where instride does not save: the other branch does so with it."""
    below = node
    for above in file.ancestors(node):
        if isinstance(above, ast.If) and below is not above.test:
            other = above.orelse if below in above.body else above.body
            if _saves(file, other):
                return True
        below = above
    return False


def _saves(file: PythonFile, body: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(each, ast.Call)
        and (file.name_of(each.func) in SAVES or _is_by_saver(file, each))
        for statement in body
        for each in ast.walk(statement)
    )


def _is_by_saver(file: PythonFile, call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(receiver, "save"):
            return is_saver(file, receiver)
    return False


def is_saver(file: PythonFile, node: ast.expr) -> bool:
    """Whether a name stands for an `instride.Saver`."""
    return any(
        isinstance(value, ast.Call) and file.name_of(value.func) in SAVERS
        for value in values_of(file, node)
    )
