"""What a training loop reaches in a repository, and how."""

from __future__ import annotations

import ast
import re
from functools import cached_property

import msgspec

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.python import FunctionNode, LoopNode
from instride.doctor.rules.calls import Calls, Function, last
from instride.doctor.rules.loops import SCALER
from instride.doctor.rules.remembering import once

DEEPEST = 6
HOOK = re.compile(r"on_(train|validation|step|epoch|fit|save|evaluate)\w*|\w*epoch_end")
"""Methods that a trainer calls again and again."""
WHOLE_TRAININGS = re.compile(r"\w*(seed|fold|trial|task|sweep|experiment|lr|run)s?(_\w+)?")
"""What a loop goes through that trains anew each time."""
BACKWARD = {"backward", "manual_backward", SCALER}


class Reach(msgspec.Struct, frozen=True, eq=False):
    """How a training loop comes to a piece of code."""

    file: PythonFile
    loop: LoopNode | FunctionNode
    """A loop, or a hook that a trainer calls."""
    by_thread: bool
    """Through a function that was handed to a thread or a process."""
    is_guessed: bool = False
    """A call on the way means a method of another file, as far as its name tells."""


@once
def flow_of(repository: Repository) -> Flow:
    return Flow(repository)


class Flow(Calls):
    def __init__(self, repository: Repository) -> None:
        super().__init__(repository)
        self._loops: dict[ast.AST, bool] = {}

    @cached_property
    def _training(self) -> set[ast.AST]:
        """The functions that compute gradients, themselves or in what they call."""
        found: set[ast.AST] = set()
        todo: list[tuple[Function, int]] = []
        for name in BACKWARD:
            for file in self.calling.get(name, ()):
                if self.is_of_interest(file):
                    for call in self.calls_in(file, name):
                        self._add_around(file, call, 0, found, todo)
        while todo:
            function, depth = todo.pop(0)
            if depth < DEEPEST:
                for file, call in self.callers(function):
                    self._add_around(file, call, depth + 1, found, todo)
        return found

    def _add_around(
        self,
        file: PythonFile,
        call: ast.Call,
        depth: int,
        found: set[ast.AST],
        todo: list[tuple[Function, int]],
    ) -> None:
        node = file.function_of(call)
        if node is not None and node not in found and node.name not in BACKWARD:
            found.add(node)
            todo.append((Function(file, node), depth))

    @cached_property
    def _training_names(self) -> set[str]:
        return {getattr(node, "name", "") for node in self._training}

    def loop_trains(self, file: PythonFile, loop: LoopNode) -> bool:
        """Whether a loop goes through steps or epochs of one training."""
        if loop not in self._loops:
            self._loops[loop] = not _trains_anew(loop) and any(
                self._call_trains(file, call)
                for call in ast.walk(loop)
                if isinstance(call, ast.Call)
            )
        return self._loops[loop]

    def _call_trains(self, file: PythonFile, call: ast.Call) -> bool:
        name = last(call.func)
        if name in BACKWARD:
            return True
        return name in self._training_names and any(
            each.node in self._training for each in self.meant(file, call.func)
        )

    def reach(self, file: PythonFile, node: ast.AST) -> Reach | None:
        """How training comes to a node again and again; in its own thread, where it can."""
        return self._reach(file, node, set(), 0)

    def _reach(
        self, file: PythonFile, node: ast.AST, seen: set[ast.AST], depth: int
    ) -> Reach | None:
        for loop in file.loops_of(node):
            if self.loop_trains(file, loop) and not _is_last(file, node, loop):
                return Reach(file, loop, by_thread=False)
        function = file.function_of(node)
        if function is None or function in seen or depth > DEEPEST:
            return None
        seen.add(function)
        if HOOK.fullmatch(function.name) and isinstance(file.parent(function), ast.ClassDef):
            return Reach(file, function, by_thread=False)
        return self._reach_of_function(Function(file, function), seen, depth)

    def _reach_of_function(
        self, function: Function, seen: set[ast.AST], depth: int
    ) -> Reach | None:
        best: Reach | None = None
        for by_thread, calls in ((False, self.callers), (True, self.handed_over)):
            for file, call in calls(function):
                found = self._reach(file, call, seen, depth + 1)
                if found is None:
                    continue
                reach = Reach(
                    found.file,
                    found.loop,
                    found.by_thread or by_thread,
                    found.is_guessed or (not by_thread and self.is_guess(file, call.func)),
                )
                if not (reach.by_thread or reach.is_guessed):
                    return reach
                best = reach if best is None else min(best, reach, key=_doubt)
        return best


def _doubt(reach: Reach) -> tuple[bool, bool]:
    return reach.by_thread, reach.is_guessed


def _trains_anew(loop: LoopNode) -> bool:
    if isinstance(loop, ast.While):
        return False
    names = [each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)]
    return any(WHOLE_TRAININGS.fullmatch(name.lower()) for name in names)


def _is_last(file: PythonFile, node: ast.AST, loop: LoopNode) -> bool:
    """Whether the loop is left after this, or it is only reached when something went wrong."""
    below = node
    for above in file.ancestors(node):
        if above is loop:
            return False
        if isinstance(above, ast.ExceptHandler):
            return True
        for block in (getattr(above, "body", None), getattr(above, "orelse", None)):
            if isinstance(block, list) and below in block and _leaves(block[block.index(below) :]):
                return True
        below = above
    return False


def _leaves(statements: list[ast.stmt]) -> bool:
    end = statements[-1]
    if isinstance(end, ast.Expr) and isinstance(end.value, ast.Call):
        return last(end.value.func) in {"exit", "_exit"}
    return isinstance(end, ast.Break | ast.Return | ast.Raise)
