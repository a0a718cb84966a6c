"""Training loops: where steps are taken.

A step loop is an innermost loop in which gradients are computed and an optimizer steps, itself or
in functions of the same file that it calls. A hook that a trainer calls in every step (Lightning's
`training_step`) counts as the body of one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import msgspec

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.python import FunctionNode, LoopNode
from instride.doctor.rules.remembering import once

BACKWARD = re.compile(r"(manual_)?backward|\w*(forward_backward|fwd_bwd)\w*")
BOTH = frozenset({"backward", "step"})
OPTIMIZER = re.compile(
    r"opts?\d*|opt_\w+|\w*_opt\d*|\w*(optim|scaler|engine|adamw?|muon|sgd)\w*", re.IGNORECASE
)
HOOKS = ("training_step", "on_train_batch_end", "on_train_batch_start", "on_step_end")
SCALER = "loss_scaler"
"""Called with a loss and an optimizer, as timm and its heirs do, it takes a whole step."""
MENTIONS = (".backward(", f"{SCALER}(", "manual_backward(", *(f"def {hook}(" for hook in HOOKS))
HOOK_OWNERS = ("lightning", "transformers", "composer")
NOT_TRAINERS = re.compile(
    r"(^|/)(tests?|testing|docs?|benchmarks?)/|(^|/)(test_|conftest|bench|profil)[^/]*$"
)
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


class StepLoop(msgspec.Struct, frozen=True, eq=False):
    """Code that runs in every step of a training."""

    file: PythonFile
    node: LoopNode | FunctionNode

    @property
    def body(self) -> list[ast.stmt]:
        return self.node.body


@once
def step_loops(repository: Repository) -> list[StepLoop]:
    """The step loops of a repository; those of its examples only where it has no others."""
    found = [
        loop
        for file in repository.python_mentioning(*MENTIONS)
        if not NOT_TRAINERS.search(file.path)
        for loop in _loops_of(file)
    ]
    return [loop for loop in found if not loop.file.aside] or found


def _loops_of(file: PythonFile) -> Iterator[StepLoop]:
    reader = _Actions(file)
    loops = [
        loop
        for loop in file.nodes(ast.For, ast.AsyncFor, ast.While)
        if reader.of_loop(loop) >= BOTH
    ]
    around = {above for loop in loops for above in file.ancestors(loop)}
    for loop in loops:
        if loop not in around:
            yield StepLoop(file, loop)
    if file.mentions(*HOOK_OWNERS):
        for function in file.nodes(ast.FunctionDef):
            if function.name in HOOKS and isinstance(file.parent(function), ast.ClassDef):
                yield StepLoop(file, function)


class _Actions:
    """Which of the two actions of a step a piece of code does."""

    def __init__(self, file: PythonFile) -> None:
        self._file = file
        self._functions = functions_of(file)
        self._loose: dict[ast.AST, frozenset[str]] = {}

    def of_loop(self, loop: LoopNode) -> frozenset[str]:
        return frozenset().union(*(self._of_call(call) for call in calls_in(loop.body)))

    def _of_call(self, call: ast.Call) -> frozenset[str]:
        if isinstance(call.func, ast.Attribute):
            if BACKWARD.fullmatch(call.func.attr):
                return frozenset({"backward"})
            if call.func.attr == "step" and self._is_optimizer(call.func.value):
                return frozenset({"step"})
        if last_name(call.func) == SCALER and len(call.args) > 1:
            return BOTH
        function = called(call, self._functions)
        return self._of_function(function) if function is not None else frozenset()

    def _is_optimizer(self, node: ast.AST) -> bool:
        name = last_name(node)
        return bool(OPTIMIZER.fullmatch(name)) or (
            name == "model" and self._file.mentions("deepspeed")
        )

    def _of_function(self, function: FunctionNode) -> frozenset[str]:
        """What a call of it does once: a whole step loop in it is not a part of a step."""
        if function not in self._loose:
            self._loose[function] = frozenset()  # one that calls itself adds nothing
            self._loose[function] = frozenset().union(*self._parts(function.body))
        return self._loose[function]

    def _parts(self, body: Iterable[ast.stmt]) -> Iterator[frozenset[str]]:
        for node in nodes_in(body, beyond_loops=False):
            if isinstance(node, LoopNode):
                actions = self.of_loop(node)
                if not actions >= BOTH:
                    yield actions
            elif isinstance(node, ast.Call):
                yield self._of_call(node)


@once
def functions_of(file: PythonFile) -> dict[str, FunctionNode]:
    """The functions and methods of a file by their names; of several with one name, the first."""
    found: dict[str, FunctionNode] = {}
    for function in file.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        found.setdefault(function.name, function)
    return found


def called(call: ast.Call, functions: dict[str, FunctionNode]) -> FunctionNode | None:
    """The function of the file that a call is of: `f()`, or `self.f()`."""
    match call.func:
        case ast.Name(name) | ast.Attribute(ast.Name("self" | "cls"), name):
            return functions.get(name)
    return None


def last_name(node: ast.AST) -> str:
    """`optimizer` of `self.optimizer`, of `optimizer[0]`, and of `optimizer`."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def source(node: ast.AST) -> str:
    """The source of an expression in one line; nothing where it is nested too deeply."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return ""


def calls_in(body: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """The calls of a piece of code, functions that are only defined in it left out."""
    return (node for node in nodes_in(body) if isinstance(node, ast.Call))


def nodes_in(body: Iterable[ast.AST], beyond_loops: bool = True) -> Iterator[ast.AST]:
    """The nodes of a piece of code in its own scope; loops may be given but not gone into."""
    todo = list(body)[::-1]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, SCOPES) or (isinstance(node, LoopNode) and not beyond_loops):
            continue
        todo.extend(list(ast.iter_child_nodes(node))[::-1])
