"""Paths that code writes plainly enough to be told without running it.

What an expression can be is worked out as texts; a part that is not known is a gap in them. Only
what has no gap where it matters is told.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.rules.bindings import bound
from instride.doctor.rules.defaults import parameter_defaults, plain_key
from instride.doctor.rules.flow import flow_of
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.option_values import given_in_code, given_in_configs
from instride.doctor.rules.values import parameters, values_in, values_of

GAP = "\0"
"""No path has it in its name."""
UNKNOWN = (GAP,)
DEEPEST = 12
MOST = 4
"""What one expression can be; more than that is not plain."""
JOINING = {"os.path.join", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"}
SAME = {
    "str", "open", "os.fspath", "os.path.abspath", "os.path.normpath", "os.path.realpath",
    "os.path.expanduser",
}  # fmt: skip
"""Called with a path, they give the same place."""
SAME_METHODS = {"resolve", "absolute", "expanduser", "as_posix", "open"}
HERE = {"os.getcwd", "pathlib.Path.cwd"}
FROM_SURROUNDINGS = {"os.getenv", "os.environ.get"}
OPTIONS = re.compile(
    r"self|(\w*_)?(args|arguments|opts?|options|cfgs?|conf|hparams|params|settings|flags)"
    r"|\w*config\w*",
    re.IGNORECASE,
)
"""What holds the options of a program; `name` of anything else is no option `--name`."""
PERCENT = re.compile(r"%[^a-zA-Z%]*[a-zA-Z]")
BRACES = re.compile(r"\{[^{}]*\}")
Texts = tuple[str, ...]


class PlainPaths:
    def __init__(self, repository: Repository, *, beyond_files: bool = True) -> None:
        """What other files say is left out where it would take too long to ask."""
        self._repository = repository
        self._beyond_files = beyond_files
        self._known: dict[ast.expr, Texts] = {}
        self._by_option: dict[str, Texts] = {}

    def directories(self, file: PythonFile, node: ast.expr) -> Texts:
        """The directories that an expression can name; nothing where that is not sure."""
        texts = self._texts(file, node, 0)
        return () if any(GAP in text or not text for text in texts) else texts

    def parents(self, file: PythonFile, node: ast.expr) -> Texts:
        """The directories of the files that an expression can name: `out` of `out/ckpt_{n}.pt`.

        What is not known may stand in the name of a file, but must not be all of it: it could have
        directories of its own.
        """
        found = []
        for text in self._texts(file, node, 0):
            folder, slash, name = text.rpartition("/")
            if GAP in folder or not name.replace(GAP, "") or (name.startswith(GAP) and not slash):
                return ()
            found.append(folder or slash or ".")
        return tuple(dict.fromkeys(found))

    def _texts(self, file: PythonFile, node: ast.expr, depth: int) -> Texts:
        if depth > DEEPEST:
            return UNKNOWN
        if node not in self._known:
            self._known[node] = UNKNOWN  # what is made of itself is not known
            self._known[node] = self._read(file, node, depth)
        return self._known[node]

    def _read(self, file: PythonFile, node: ast.expr, depth: int) -> Texts:
        match node:
            case ast.Constant(str(text)):
                return (text,)
            case ast.JoinedStr(parts):
                return self._all(file, parts, "".join, depth)
            case ast.FormattedValue(value, -1, None):
                return self._texts(file, value, depth + 1)
            case ast.BinOp():
                return self._of_operator(file, node, depth)
            case ast.IfExp(_, one, other):
                return self._any(((file, one), (file, other)), depth)
            case ast.Call():
                return self._of_call(file, node, depth)
            case ast.Name():
                return self._of_name(file, node, depth)
            case ast.Attribute():
                return self._of_attribute(file, node, depth)
        return UNKNOWN

    def _of_operator(self, file: PythonFile, node: ast.BinOp, depth: int) -> Texts:
        match node:
            case ast.BinOp(left, ast.Add(), right):
                return self._all(file, (left, right), "".join, depth)
            case ast.BinOp(left, ast.Div(), right):
                return self._all(file, (left, right), _joined, depth)
            case ast.BinOp(ast.Constant(str(text)), ast.Mod()):
                return (PERCENT.sub(GAP, text),)
        return UNKNOWN

    def _all(
        self,
        file: PythonFile,
        nodes: Sequence[ast.expr],
        put_together: Callable[[tuple[str, ...]], str],
        depth: int,
    ) -> Texts:
        each = [self._texts(file, node, depth + 1) for node in nodes]
        if prod(map(len, each)) > MOST:
            return UNKNOWN
        return _few(put_together(parts) for parts in product(*each))

    def _of_call(self, file: PythonFile, call: ast.Call, depth: int) -> Texts:
        name, given = file.name_of(call.func), call.args
        if name in JOINING:
            return self._all(file, given, _joined, depth)
        if name in SAME and given:
            return self._texts(file, given[0], depth + 1)
        if name == "os.path.dirname" and given:
            return self._all(file, given[:1], _parent, depth)
        if name in HERE:
            return (".",)
        if name in FROM_SURROUNDINGS and len(given) == 2:
            return self._texts(file, given[1], depth + 1)
        match call.func:
            case ast.Attribute(ast.Constant(str(text)), "format"):
                return (BRACES.sub(GAP, text),)
            case ast.Attribute(path, "joinpath"):
                return self._all(file, (path, *given), _joined, depth)
            case ast.Attribute(path, method) if method in SAME_METHODS:
                return self._texts(file, path, depth + 1)
        return UNKNOWN

    def _of_name(self, file: PythonFile, node: ast.Name, depth: int) -> Texts:
        if node.id == "__file__":
            return (file.path,)
        if node.id in file.imports:
            return self._of_option(plain_key(node.id), depth)
        if _is_added_to(file, node.id):
            return UNKNOWN
        function = file.function_of(node)
        if function is not None and not values_in(file, function, node.id):
            every = [*parameters(function), *(each.arg for each in function.args.kwonlyargs)]
            if node.id in every:
                return self._of_parameter(file, node, function.args, depth)
        return self._any(((file, value) for value in values_of(file, node)), depth)

    def _of_parameter(
        self, file: PythonFile, node: ast.Name, arguments: ast.arguments, depth: int
    ) -> Texts:
        """What the callers of the function pass, or else its default."""
        if self._beyond_files:
            flow = flow_of(self._repository)
            passed = [each for each in bound(flow, file, node, -1) if each.node is not node]
            if passed:
                return self._any(((each.file, each.node) for each in passed), depth)
        own = plain_key(node.id)
        given = [value for name, value in parameter_defaults(arguments) if name == own]
        return self._any(((file, value) for value in given), depth)

    def _of_attribute(self, file: PythonFile, node: ast.Attribute, depth: int) -> Texts:
        if node.attr == "parent":
            return self._all(file, (node.value,), _parent, depth)
        values = values_of(file, node)
        if values:
            found = self._any(((file, value) for value in values), depth)
            if found != UNKNOWN:
                return found
        if OPTIONS.fullmatch(last_name(node.value)):
            return self._of_option(plain_key(node.attr), depth)
        return UNKNOWN

    def _of_option(self, name: str, depth: int) -> Texts:
        """What a setting is by default, or in a config, wherever in the repository that stands."""
        if not self._beyond_files:
            return UNKNOWN
        if name not in self._by_option:
            self._by_option[name] = UNKNOWN  # one that is given by itself is not known
            in_code = self._any(given_in_code(self._repository, name), depth)
            in_configs = list(given_in_configs(self._repository, name))
            known = [text for text in in_code if GAP not in text]
            self._by_option[name] = _few([*in_configs, *known]) if in_configs else in_code
        return self._by_option[name]

    def _any(self, given: Iterable[tuple[PythonFile, ast.expr]], depth: int) -> Texts:
        return _few(text for file, node in given for text in self._texts(file, node, depth + 1))


def _few(texts: Iterable[str]) -> Texts:
    """Each once; not known where they are too many to be plain, or one is not known at all."""
    found = tuple(dict.fromkeys(texts))
    return found if 0 < len(found) <= MOST and GAP not in found else UNKNOWN


def _joined(parts: Sequence[str]) -> str:
    return posixpath.join(*parts) if parts else "."


def _parent(parts: Sequence[str]) -> str:
    path = posixpath.normpath(parts[0])
    is_above = path in {".", ".."} or path.endswith("/..")
    return f"{path}/.." if is_above else posixpath.dirname(path) or "."


def _is_added_to(file: PythonFile, name: str) -> bool:
    return any(last_name(each.target) == name for each in file.nodes(ast.AugAssign))
