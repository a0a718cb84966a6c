"""Functions and classes of a repository by name, and what they do with what they are given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from instride.doctor.repository import PythonFile
from instride.doctor.repository.python import FunctionNode
from instride.doctor.rules.config_objects import SAME_THING, unwrapped
from instride.doctor.rules.loops import last_name, source
from instride.doctor.rules.remembering import once

DEFINED = re.compile(r"^[ \t]*(?:async\s+)?(?:def|class)\s+(\w+)", re.MULTILINE)


class Definitions:
    def __init__(self, files: list[PythonFile]) -> None:
        self._files: dict[str, list[PythonFile]] = {}
        self._passing: dict[str, bool] = {}
        self._spread: dict[str, set[tuple[int, str]]] = {}
        for file in files:
            for name in set(DEFINED.findall(file.text)):
                self._files.setdefault(name, []).append(file)

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def passes_any_name_on(self, name: str) -> bool:
        """Whether one of this name takes `**kwargs`, and may give them to something else."""
        if name not in self._passing:
            functions = self._functions(name)
            self._passing[name] = any(_passes_any_name_on(function) for _, function in functions)
        return self._passing[name]

    def taken_apart(self, call: ast.Call, name: str) -> Iterator[ast.expr]:
        """What a call gives to a function or class of ours that takes all keys of it."""
        if name not in self._spread:
            self._spread[name] = {
                found
                for file, function in self._functions(name)
                for found in _spread_parameters(file, function)
            }
        for position, parameter in self._spread[name]:
            if position < len(call.args):
                yield call.args[position]
            yield from (each.value for each in call.keywords if each.arg == parameter)

    def _functions(self, name: str) -> Iterator[tuple[PythonFile, FunctionNode]]:
        """The functions of a name; of a class, what makes an object of it."""
        for file in self._files.get(name, ()):
            for function in file.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
                owner = file.parent(function)
                is_init = isinstance(owner, ast.ClassDef) and owner.name == name
                if function.name == name or (is_init and function.name == "__init__"):
                    yield file, function


def _passes_any_name_on(function: FunctionNode) -> bool:
    if function.args.kwarg is None:
        return False
    text = source(function)
    kept_as_attributes = ("setattr(", "__dict__.update(", "self[")
    return not any(kept in text for kept in kept_as_attributes)


def _spread_parameters(file: PythonFile, function: FunctionNode) -> Iterator[tuple[int, str]]:
    """Positions and names of parameters that are used like `AdamW(**options)`."""
    owner = file.parent(function)
    scope = owner if isinstance(owner, ast.ClassDef) else function
    spread = {
        text
        for call, text in _spread_in(file)
        if call.lineno >= scope.lineno and scope in file.ancestors(call)
    }
    if not spread:
        return
    plain = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(owner, ast.ClassDef) and plain:
        plain = plain[1:]
    for position, name in enumerate([*plain, *(each.arg for each in function.args.kwonlyargs)]):
        if name in spread or f"self.{_attribute_of(function, name)}" in spread:
            yield position, name


@once
def _spread_in(file: PythonFile) -> list[tuple[ast.Call, str]]:
    return [
        (call, source(unwrapped(value)))
        for call in file.nodes(ast.Call)
        for value in _taken_apart(call)
    ]


def _attribute_of(function: FunctionNode, name: str) -> str:
    """The attribute that a parameter is kept as."""
    for node in ast.walk(function):
        match node:
            case ast.Assign([ast.Attribute(ast.Name("self"), attribute)], ast.Name(value)):
                if value == name:
                    return attribute
    return name


def _taken_apart(call: ast.Call) -> Iterator[ast.expr]:
    """`f(**options)`, `options.items()`, `instantiate(options)`."""
    name = last_name(call.func)
    if name not in SAME_THING:
        yield from (each.value for each in call.keywords if each.arg is None)
    match call.func:
        case ast.Attribute(value, "items" | "keys" | "values"):
            yield value
    if name == "instantiate":
        yield from call.args
