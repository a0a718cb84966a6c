"""What stands around a save: its statement, the file it is given, what goes on to use that."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath

from instride.doctor.rules.loops import last_name
from instride.doctor.rules.saves import SAVE, Save

FILE_USES = re.compile(
    r"\w*(replace|rename|move|copy|link|upload|load|push|size|stat|zip|sync|hash|artifact)\w*|add_file"
)
"""Calls that need the file: not those that only tell its name."""


def statement_of(save: Save) -> ast.stmt | None:
    """The statement that is nothing but the save, on lines of its own."""
    parent = save.file.parent(save.call)
    if not isinstance(parent, ast.Expr) or save.file.name_of(save.call.func) != SAVE:
        return None
    before = save.file.lines[parent.lineno - 1].encode()[: parent.col_offset]
    after = save.file.lines[(parent.end_lineno or 1) - 1].encode()[parent.end_col_offset or 0 :]
    tail = after.decode(errors="replace").strip()
    alone = not before.strip() and (not tail or tail.startswith("#"))
    return parent if alone and not isinstance(save.target, ast.Starred) else None


def block_of(save: Save) -> ast.With | None:
    """The `with ... as f` around a save into `f`."""
    for above in save.file.ancestors(save.call):
        if isinstance(above, ast.With) and len(above.items) == 1:
            name = above.items[0].optional_vars
            if name is not None and ast.unparse(name) == ast.unparse(save.target):
                return above
    return None


def is_used(save: Save) -> bool:
    """Whether code that may run later does something with the file, which must be there then."""
    names = {
        each.id
        for each in ast.walk(save.target)
        if isinstance(each, ast.Name) and each.id not in save.file.imports
    } - {"self", "args", "cfg", "config"}
    texts = _file_names(save.target)
    return any(
        FILE_USES.fullmatch(last_name(call.func))
        and ((_comes_later(save, call) and names & _names(call)) or texts & _file_names(call))
        for call in save.file.nodes(ast.Call)
        if not _comes_before(save, call)
    )


def _comes_later(save: Save, call: ast.Call) -> bool:
    """In the same function: its names are the same things."""
    scope: ast.AST = save.function or save.file.tree
    return call.lineno > (save.call.end_lineno or save.call.lineno) and (
        scope is save.file.tree or scope in save.file.ancestors(call)
    )


def _comes_before(save: Save, call: ast.Call) -> bool:
    is_beside = save.file.function_of(call) is save.function
    return is_beside and call.lineno <= (save.call.end_lineno or save.call.lineno)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _file_names(node: ast.AST) -> set[str]:
    """Texts that name a file: `"best.pt"`."""
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and PurePosixPath(each.value).suffix
    }
