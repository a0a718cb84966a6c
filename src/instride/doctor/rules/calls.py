"""Who calls what in a repository, as far as names tell.

Only files in which a name occurs are parsed, so that a large repository costs little. A call that
could mean many functions means none: what is not known is not blamed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice

import msgspec

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.python import FunctionNode
from instride.doctor.rules.loops import NOT_TRAINERS, last_name
from instride.doctor.rules.own_calls import is_saver
from instride.doctor.rules.values import class_of

DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
CALLED = re.compile(r"\b(\w++)[ \t]*+\(")
MOST_MEANINGS = 3
MOST_OWNERS = 12
MOST_CALLERS = 40
MOST_OF_A_NAME = 64
"""Functions in one file that are told apart: nobody writes more by hand."""
VAGUE = {
    "add", "append", "apply", "backward", "call", "close", "eval", "execute", "fit", "forward",
    "get", "handle", "init", "load", "log", "main", "process", "put", "reset", "run", "save",
    "setup", "start", "state_dict", "step", "stop", "train", "update", "write",
}  # fmt: skip
"""Names that say nothing of what they belong to."""
HAND_OVERS = {"Thread", "submit", "apply_async", "run_in_executor", "Process", "Timer", "to_thread"}


class Function(msgspec.Struct, frozen=True, eq=False):
    file: PythonFile
    node: FunctionNode

    @property
    def is_method(self) -> bool:
        return isinstance(self.file.parent(self.node), ast.ClassDef)


class Calls:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._defining = _files_by_name(repository, DEFINED)
        self._functions: dict[PythonFile, dict[str, list[Function]]] = {}
        self._meant: dict[ast.expr, list[Function]] = {}
        self._by_dotted: dict[str, list[Function]] = {}
        self._calls: dict[PythonFile, dict[str, list[ast.Call]]] = {}
        self._callers: dict[ast.AST, list[tuple[PythonFile, ast.Call]]] = {}
        trainers = [each for each in repository.python if each.mentions("backward(")]
        self._has_trainer = any(not each.aside for each in trainers)

    @cached_property
    def calling(self) -> dict[str, list[PythonFile]]:
        """The files that call something of a name."""
        return _files_by_name(self._repository, CALLED)

    def is_of_interest(self, file: PythonFile) -> bool:
        """Whether it may be part of a training: examples are where there is no other."""
        if file.aside:
            return not self._has_trainer and not NOT_TRAINERS.search(file.path)
        return True

    def functions_in(self, file: PythonFile, name: str) -> list[Function]:
        """The first functions and methods of a name in a file."""
        if file not in self._functions:
            by_name: dict[str, list[Function]] = {}
            for node in file.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
                same = by_name.setdefault(node.name, [])
                if len(same) < MOST_OF_A_NAME:
                    same.append(Function(file, node))
            self._functions[file] = by_name
        return self._functions[file].get(name, [])

    def meant(self, file: PythonFile, called: ast.expr) -> list[Function]:
        """The functions of the repository that an expression can stand for."""
        if called not in self._meant:
            self._meant[called] = self._find(file, called)
        return self._meant[called]

    def _find(self, file: PythonFile, called: ast.expr) -> list[Function]:
        if isinstance(called, ast.Name):
            imported = file.imports.get(called.id)
            if imported is not None:
                return self._imported(imported)
            return [each for each in self.functions_in(file, called.id) if not each.is_method]
        if isinstance(called, ast.Attribute):
            return self._by_attribute(file, called)
        return []

    def is_guess(self, file: PythonFile, called: ast.expr) -> bool:
        """Whether only the name of a method tells which one is called, and that in another file."""
        if not isinstance(called, ast.Attribute) or self.functions_in(file, called.attr):
            return False
        return _root(called.value) not in file.imports

    def _by_attribute(self, file: PythonFile, called: ast.Attribute) -> list[Function]:
        root = called.value
        if is_saver(file, root):
            return []
        files = self._defining.get(called.attr, [])
        if isinstance(root, ast.Name) and root.id in {"self", "cls"}:
            owner = class_of(file, called)
            own = self.functions_in(file, called.attr)
            return [each for each in own if file.parent(each.node) is owner] or self._few(
                called.attr, files
            )
        if isinstance(root, ast.Name | ast.Attribute) and _root(root) in file.imports:
            return self._imported(file.name_of(called) or "")
        if called.attr in VAGUE:
            methods = self._methods(called.attr, files[:MOST_OWNERS])
            return [each for each in methods if _fits(last_name(root), each)]
        return self._few(called.attr, files)

    def _imported(self, dotted: str) -> list[Function]:
        if dotted not in self._by_dotted:
            name = dotted.rpartition(".")[2]
            self._by_dotted[dotted] = [
                each
                for file in self._defining.get(name, ())
                if _is_of_module(file, dotted)
                for each in self.functions_in(file, name)
            ]
        return self._by_dotted[dotted]

    def _methods(self, name: str, files: list[PythonFile]) -> list[Function]:
        return [each for file in files for each in self.functions_in(file, name) if each.is_method]

    def _few(self, name: str, files: list[PythonFile]) -> list[Function]:
        """The methods of a name, where they are so few that it can well be any of them."""
        methods = self._methods(name, files) if len(files) <= MOST_MEANINGS else []
        return methods if len(methods) <= MOST_MEANINGS else []

    def calls_in(self, file: PythonFile, name: str) -> list[ast.Call]:
        if file not in self._calls:
            by_name: dict[str, list[ast.Call]] = {}
            for call in file.nodes(ast.Call):
                by_name.setdefault(last(call.func), []).append(call)
            self._calls[file] = by_name
        return self._calls[file].get(name, [])

    def callers(self, function: Function) -> list[tuple[PythonFile, ast.Call]]:
        """The calls in the repository that can mean a function."""
        if function.node not in self._callers:
            self._callers[function.node] = list(islice(self._calls_of(function), MOST_CALLERS))
        return self._callers[function.node]

    def _calls_of(self, function: Function) -> Iterator[tuple[PythonFile, ast.Call]]:
        name, node = function.node.name, function.node
        if all(each.node is not node for each in self.functions_in(function.file, name)):
            return
        for file in self.calling.get(name, ()):
            if self.is_of_interest(file):
                for call in self.calls_in(file, name):
                    if any(each.node is node for each in self.meant(file, call.func)):
                        yield file, call

    def handed_over(self, function: Function) -> Iterator[tuple[PythonFile, ast.Call]]:
        """The calls that give a function to a thread, a pool or a process, or give it work."""
        yield from self._started(function)
        yield from self._fed(function)
        name = function.node.name
        for hand_over in HAND_OVERS:
            for file in self.calling.get(hand_over, ()):
                if not file.mentions(name) or not self.is_of_interest(file):
                    continue
                for call in self.calls_in(file, hand_over):
                    given = [*call.args, *(each.value for each in call.keywords)]
                    if any(
                        meant.node is function.node
                        for each in given
                        if isinstance(each, ast.Name | ast.Attribute) and last(each) == name
                        for meant in self.meant(file, each)
                    ):
                        yield file, call

    def _started(self, function: Function) -> Iterator[tuple[PythonFile, ast.Call]]:
        """Where a thread is made whose class runs this."""
        owner = function.file.parent(function.node)
        if not isinstance(owner, ast.ClassDef) or function.node.name != "run":
            return
        if {last(base) for base in owner.bases} & {"Thread", "Process"}:
            for file in self.calling.get(owner.name, ()):
                for call in self.calls_in(file, owner.name):
                    yield file, call

    def _fed(self, function: Function) -> Iterator[tuple[PythonFile, ast.Call]]:
        """Where something is put into a queue that this takes from."""
        file = function.file
        queues = {
            last_name(call.func.value)
            for call in self.calls_in(file, "get")
            if isinstance(call.func, ast.Attribute)
            and file.function_of(call) is function.node
            and file.loops_of(call)
        }
        for call in self.calls_in(file, "put"):
            if isinstance(call.func, ast.Attribute) and last_name(call.func.value) in queues:
                yield file, call


def last(node: ast.expr) -> str:
    """The name itself of `a.b.name`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _files_by_name(repository: Repository, pattern: re.Pattern[str]) -> dict[str, list[PythonFile]]:
    """The files in which a pattern finds a name; cheaper than their trees."""
    found: dict[str, list[PythonFile]] = {}
    for file in repository.python:
        repository.budget.check_time()
        for name in set(pattern.findall(file.text)):
            found.setdefault(name, []).append(file)
    return found


def _is_of_module(file: PythonFile, dotted: str) -> bool:
    """Whether a file can be where an imported name comes from, re-exports included."""
    module = dotted.rpartition(".")[0].strip(".")
    path = "." + file.path.removesuffix(".py").replace("/", ".") + "."
    return not module or f".{module}." in path


def _fits(name: str, method: Function) -> bool:
    """Whether a variable is called like the class of a method."""
    owner = method.file.parent(method.node)
    plain = name.replace("_", "").lower()
    return isinstance(owner, ast.ClassDef) and len(plain) > 4 and plain[:6] in owner.name.lower()
