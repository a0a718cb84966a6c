"""Whether a state that is passed on is a copy, or what training goes on changing."""

from __future__ import annotations

import ast
import re

import msgspec

from instride.doctor.repository import PythonFile
from instride.doctor.rules.flow import Flow
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.values import values_of

NESTED_STATE = re.compile(r"opt(im|s\b|_|\.|imizer)|sched", re.IGNORECASE)
"""What has states of states: its outermost values are dictionaries."""
SHALLOW = {"dict", "copy.copy", "OrderedDict", "collections.OrderedDict"}
TENSOR_COPIES = {"cpu", "clone", "detach", "to", "contiguous"}
DEEPEST = 4


class Live(msgspec.Struct, frozen=True, eq=False):
    """A state that training goes on changing."""

    file: PythonFile
    node: ast.expr
    """What looks like a copy, or the state itself."""
    state: ast.expr


class Liveness:
    """Finds a state that is passed on without a copy, or with one of its outermost values only."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def of(self, file: PythonFile, node: ast.expr, depth: int) -> Live | None:
        if depth > DEEPEST:
            return None
        match node:
            case ast.Dict():
                return self._first(file, node.values, depth)
            case ast.Tuple() | ast.List():
                return self._first(file, node.elts, depth)
            case ast.IfExp():
                return self._first(file, [node.body, node.orelse], depth)
            case ast.DictComp():
                return self._comprehension(file, node, depth)
            case ast.Call():
                return self._call(file, node, depth)
            case ast.Name():
                return self._name(file, node, depth)
        return None

    def _first(self, file: PythonFile, nodes: list[ast.expr], depth: int) -> Live | None:
        found = (self.of(file, each, depth + 1) for each in nodes)
        return next((each for each in found if each is not None), None)

    def _name(self, file: PythonFile, node: ast.Name, depth: int) -> Live | None:
        values = [each for each in values_of(file, node) if each.lineno <= node.lineno]
        if any(_is_deep(file, each, node.id) for each in values):
            return None
        return self._first(file, values, depth)

    def _call(self, file: PythonFile, node: ast.Call, depth: int) -> Live | None:
        name = last_name(node.func)
        if name == "state_dict" and isinstance(node.func, ast.Attribute):
            return Live(file, node, node)
        if name == "copy" and not node.args and isinstance(node.func, ast.Attribute):
            return self.of(file, node.func.value, depth + 1)
        if file.name_of(node.func) in SHALLOW and node.args:
            return self.of(file, node.args[0], depth + 1)
        if len(node.args) == 1 and self._is_shallow_helper(file, node):
            return self._nested(file, node, node.args[0], depth)
        return None

    def _is_shallow_helper(self, file: PythonFile, node: ast.Call) -> bool:
        """Whether a function of the repository returns `{k: v.cpu() for k, v in x.items()}`."""
        for function in self._flow.meant(file, node.func):
            for each in ast.walk(function.node):
                if isinstance(each, ast.Return) and isinstance(each.value, ast.DictComp):
                    return _copies_tensors(each.value.value)
        return False

    def _comprehension(self, file: PythonFile, node: ast.DictComp, depth: int) -> Live | None:
        source = node.generators[0].iter
        if not (isinstance(source, ast.Call) and last_name(source.func) == "items"):
            return None
        assert isinstance(source.func, ast.Attribute)
        state = source.func.value
        if _copies_tensors(node.value):
            return self._nested(file, node, state, depth)
        return self.of(file, state, depth + 1) if isinstance(node.value, ast.Name) else None

    def _nested(self, file: PythonFile, node: ast.expr, state: ast.expr, depth: int) -> Live | None:
        """A copy of the outermost values of a state whose tensors lie deeper."""
        inner = state.value if isinstance(state, ast.Subscript) else state
        found = self.of(file, inner, depth + 1)
        if found is None:
            return None
        is_nested = NESTED_STATE.search(ast.unparse(found.state)) or _is_dict(file, inner)
        return Live(file, node, state) if is_nested else None


def _is_dict(file: PythonFile, node: ast.expr) -> bool:
    values = values_of(file, node) if isinstance(node, ast.Name) else [node]
    return any(isinstance(each, ast.Dict) for each in values)


def _is_deep(file: PythonFile, value: ast.expr, name: str) -> bool:
    """Whether a name is given a copy of itself by a function that we trust to copy."""
    if not isinstance(value, ast.Call) or file.name_of(value.func) in SHALLOW:
        return False
    return file.name_of(value.func) == "copy.deepcopy" or any(
        isinstance(each, ast.Name) and each.id == name for each in value.args
    )


def _copies_tensors(value: ast.expr) -> bool:
    """`v.cpu()`, `v.detach().clone()`, `v.cpu() if torch.is_tensor(v) else v`."""
    if isinstance(value, ast.IfExp):
        return _copies_tensors(value.body) or _copies_tensors(value.orelse)
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in TENSOR_COPIES
    )
