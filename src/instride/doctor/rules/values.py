"""What a name in a Python file was given: enough to see through a variable, and no more."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from instride.doctor.repository import PythonFile
from instride.doctor.repository.python import FunctionNode

DEEPEST = 3
LONGEST = 20_000
MOST = 200
MOST_VALUES = 20
_Key = tuple[ast.AST | None, str]
_known: WeakKeyDictionary[PythonFile, dict[_Key, list[ast.expr]]] = WeakKeyDictionary()


def values_of(file: PythonFile, node: ast.expr) -> list[ast.expr]:
    """The expressions that a name or `self.name` is given, in its function or around it.

    What is put under a key of it (`state["model"] = ...`) is among them.
    """
    given = _given(file)
    if isinstance(node, ast.Name):
        scope: ast.AST | None = file.function_of(node)
        while True:
            found = given.get((scope, node.id))
            if found or scope is None:
                return found or []
            scope = file.function_of(scope)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return given.get((class_of(file, node), f"{node.value.id}.{node.attr}"), [])
    return []


def values_in(file: PythonFile, function: FunctionNode, name: str) -> list[ast.expr]:
    """The expressions that a name is given in a function itself."""
    return _given(file).get((function, name), [])


def class_of(file: PythonFile, node: ast.AST) -> ast.ClassDef | None:
    """The innermost class that a node stands in."""
    return next((each for each in file.ancestors(node) if isinstance(each, ast.ClassDef)), None)


def reaching(file: PythonFile, node: ast.expr) -> Iterator[ast.expr]:
    """An expression, and what the names in it were given, a few assignments back."""
    seen: set[ast.AST] = set()
    todo = [(node, 0)]
    while todo:
        expression, depth = todo.pop(0)
        if expression in seen:
            continue
        seen.add(expression)
        yield expression
        if len(seen) == MOST:
            return
        if depth < DEEPEST:
            names = (each for each in ast.walk(expression) if isinstance(each, ast.expr))
            todo += [(value, depth + 1) for name in names for value in values_of(file, name)]


def text_reaching(file: PythonFile, node: ast.expr) -> str:
    """The source of an expression and of what its names were given."""
    parts: list[str] = []
    for expression in reaching(file, node):
        parts.append(ast.unparse(expression))
        if sum(map(len, parts)) > LONGEST:
            break
    return "\n".join(parts)


def texts_in(file: PythonFile, node: ast.expr) -> list[str]:
    """The string literals in an expression and in what its names were given."""
    return [
        each.value
        for expression in reaching(file, node)
        for each in ast.walk(expression)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]


def _given(file: PythonFile) -> dict[_Key, list[ast.expr]]:
    if file not in _known:
        found: dict[_Key, list[ast.expr]] = {}
        for target, value in _assignments(file):
            for key in _keys(file, target):
                values = found.setdefault(key, [])
                if len(values) < MOST_VALUES:
                    values.append(value)
        _known[file] = found
    return _known[file]


def _assignments(file: PythonFile) -> Iterator[tuple[ast.expr, ast.expr]]:
    for assign in file.nodes(ast.Assign):
        for target in assign.targets:
            yield target, assign.value
    for note in file.nodes(ast.AnnAssign):
        if note.value is not None:
            yield note.target, note.value
    for walrus in file.nodes(ast.NamedExpr):
        yield walrus.target, walrus.value
    for item in file.nodes(ast.withitem):
        if item.optional_vars is not None:
            yield item.optional_vars, item.context_expr
    for loop in file.nodes(ast.For):
        yield loop.target, loop.iter
    for part in file.nodes(ast.comprehension):
        yield part.target, part.iter


def _keys(file: PythonFile, target: ast.expr) -> Iterator[_Key]:
    while isinstance(target, ast.Subscript):
        target = target.value
    match target:
        case ast.Name(name):
            yield file.function_of(target), name
        case ast.Attribute(ast.Name(owner), name):
            yield class_of(file, target), f"{owner}.{name}"
        case ast.Tuple(parts) | ast.List(parts):
            for part in parts:
                yield from _keys(file, part)


def parameters(function: FunctionNode) -> list[str]:
    """The names that a function takes by position, in their order."""
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
