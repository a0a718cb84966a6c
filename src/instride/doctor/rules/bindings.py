"""What a function is given: expressions looked through the parameters that they are passed as."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from instride.doctor.repository import PythonFile
from instride.doctor.rules.calls import Function
from instride.doctor.rules.flow import Flow
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.values import parameters, values_in

DEEPEST = 3
"""Functions that an expression is followed through."""


class Bound(msgspec.Struct, frozen=True, eq=False):
    """An expression, where it is written."""

    file: PythonFile
    node: ast.expr


def handed_function(call: ast.Call) -> ast.expr | None:
    """What a thread or a pool is told to call."""
    for keyword in call.keywords:
        if keyword.arg in {"target", "func", "function"}:
            return keyword.value
    skipped = {"run_in_executor": 1, "Timer": 1, "Thread": 1, "Process": 1}
    rest = call.args[skipped.get(last_name(call.func), 0) :]
    return rest[0] if rest else None


def handed_arguments(call: ast.Call) -> list[ast.expr]:
    """What it will be called with, by position."""
    for keyword in call.keywords:
        if keyword.arg == "args":
            value = keyword.value
            return list(value.elts) if isinstance(value, ast.Tuple | ast.List) else []
    function = handed_function(call)
    rest = call.args[call.args.index(function) + 1 :] if function in call.args else []
    if len(rest) == 1 and isinstance(rest[0], ast.Tuple | ast.List):
        return list(rest[0].elts)
    return rest


def bound(
    flow: Flow, file: PythonFile, node: ast.expr, position: int, depth: int = 0
) -> Iterator[Bound]:
    """An expression; where it is a parameter, what the callers of the function pass for it."""
    function = file.function_of(node)
    name = node.value if isinstance(node, ast.Starred) else node
    if function is None or depth == DEEPEST or not isinstance(name, ast.Name):
        yield Bound(file, node)
        return
    names = parameters(function)
    is_passed_on = function.args.vararg is not None and function.args.vararg.arg == name.id
    if not is_passed_on and (name.id not in names or values_in(file, function, name.id)):
        yield Bound(file, node)
        return
    owner = Function(file, function)
    place = position if is_passed_on else names.index(name.id) - _takes_self(owner)
    found = False
    for caller, given, named in _passed(flow, owner):
        passed = named.get(name.id) or (given[place] if 0 <= place < len(given) else None)
        if passed is not None and not isinstance(passed, ast.Starred):
            found = True
            yield from bound(flow, caller, passed, position, depth + 1)
    if not found:
        yield Bound(file, node)


def _passed(
    flow: Flow, function: Function
) -> Iterator[tuple[PythonFile, list[ast.expr], dict[str | None, ast.expr]]]:
    """What a function is called with, by position and by name, threads included."""
    for file, call in flow.callers(function):
        yield file, call.args, {each.arg: each.value for each in call.keywords}
    for file, call in flow.handed_over(function):
        yield file, handed_arguments(call), {}


def _takes_self(function: Function) -> bool:
    names = parameters(function.node)
    return function.is_method and bool(names) and names[0] in {"self", "cls"}
