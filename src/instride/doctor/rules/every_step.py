"""What of a training loop runs in every step, and not only in some of them.

What stands under a condition is left out (`if step % 100 == 0`), and so is what follows an early
`return` or `continue`; a condition on the device or the rank is the same in every step and does
not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import msgspec

from instride.doctor.repository.python import FunctionNode, LoopNode
from instride.doctor.rules.loops import SCOPES, StepLoop, called, functions_of, source

STEADY = re.compile(
    r"(not )?(\w+\.)*(is_)?(master|main|primary)(_process)?(\(\))?"
    r"|(\w+\.)*(local_|global_)?rank == 0|(\w+\.)*get_rank\(\) == 0"
    r"|(\w+\.)*is_available\(\)|(\w+\.)*(use_)?cuda"
    r"|'cuda' in [\w.()]+|[\w.()]*device[\w.()]* == 'cuda'|[\w.()]*device[\w.()]*\('cuda'\)"
)
"""Conditions with the same answer in every step."""
DEEPEST = 2
"""Calls of functions that are gone into."""


class Ran(msgspec.Struct, frozen=True, eq=False):
    """A call that runs in every step."""

    call: ast.Call
    statement: ast.stmt
    block: Sequence[ast.stmt]
    """The statements beside it."""


def every_step(loop: StepLoop) -> Iterator[Ran]:
    """The calls that run in every step, in their order; those in called functions, too."""
    return _Walk(loop).block(loop.body, 0)


class _Walk:
    def __init__(self, loop: StepLoop) -> None:
        self._functions = functions_of(loop.file)
        self._gone_into: set[ast.AST] = {loop.node}

    def block(self, body: Sequence[ast.stmt], depth: int) -> Iterator[Ran]:
        for statement in body:
            yield from self._statement(statement, body, depth)
            if _may_leave(statement):
                return

    def _statement(
        self, statement: ast.stmt, block: Sequence[ast.stmt], depth: int
    ) -> Iterator[Ran]:
        match statement:
            case ast.If():
                yield from self._expression(statement.test, statement, block, depth)
                if STEADY.fullmatch(source(statement.test)):
                    yield from self.block(statement.body, depth)
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    yield from self._expression(item.context_expr, statement, block, depth)
                yield from self.block(statement.body, depth)
            case ast.Try():
                yield from self.block(statement.body, depth)
                yield from self.block(statement.finalbody, depth)
            case ast.For() | ast.AsyncFor():
                yield from self._expression(statement.iter, statement, block, depth)
                yield from self.block(statement.body, depth)
            case ast.While():
                yield from self._expression(statement.test, statement, block, depth)
                yield from self.block(statement.body, depth)
            case _ if not isinstance(statement, SCOPES | ast.Match):
                yield from self._expression(statement, statement, block, depth)

    def _expression(
        self, node: ast.AST, statement: ast.stmt, block: Sequence[ast.stmt], depth: int
    ) -> Iterator[Ran]:
        for part in _evaluated(node):
            if isinstance(part, ast.Call):
                yield Ran(part, statement, block)
                function = called(part, self._functions)
                if function is not None and depth < DEEPEST and function not in self._gone_into:
                    self._gone_into.add(function)
                    yield from self.block(function.body, depth + 1)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that are worked out whatever its conditions say."""
    todo = [node]
    while todo:
        part = todo.pop()
        yield part
        if isinstance(part, SCOPES):
            continue
        if isinstance(part, ast.IfExp):
            todo.append(part.test)
        elif isinstance(part, ast.BoolOp):
            todo.append(part.values[0])
        else:
            todo.extend(reversed(list(ast.iter_child_nodes(part))))


def _may_leave(statement: ast.stmt) -> bool:
    """Whether what follows a condition may be left out of this step, by a `return` in it."""
    if not isinstance(statement, ast.If):
        return False
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return | ast.Continue):
            return True
        if not isinstance(node, SCOPES | LoopNode | FunctionNode):
            todo.extend(ast.iter_child_nodes(node))
    return False
