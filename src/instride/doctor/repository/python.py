"""A Python file as a tree, read without running it, with what names in it stand for."""

from __future__ import annotations

import ast
import math
import re
import time
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar, overload

from instride.doctor.repository.files import TextFile, Why

PYTHON_2 = re.compile(
    r"^[ \t]*(print[ \t]+[\"'\w]|print[ \t]*>>|exec[ \t]+[\"'\w]"
    r"|except[ \t]+\w[\w.]*[ \t]*,[ \t]*\w+[ \t]*:|raise[ \t]+\w+[ \t]*,)",
    re.MULTILINE,
)
TOKEN = re.compile(r"\w+|[^\w\s]")
USUAL_TOKEN = 5
"""Bytes, spaces included."""
MOST_TOKENS = 150_000
"""In one file; ten thousand lines of code have fewer."""
One = TypeVar("One", bound=ast.AST)
Two = TypeVar("Two", bound=ast.AST)
Three = TypeVar("Three", bound=ast.AST)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
LoopNode = ast.For | ast.AsyncFor | ast.While


class TimeIsUp(Exception):
    """Raised in the middle of a rule: a thread that goes on would hold up all that follows."""


class Budget:
    """How much code is parsed in all, and until when.

    A tree takes some 250 bytes for each word and sign. The deadline is one of `time.monotonic`.
    """

    def __init__(self, tokens: int, deadline: float = math.inf) -> None:
        self._left = tokens
        self._deadline = deadline

    def check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise TimeIsUp

    def take(self, tokens: int) -> bool:
        if tokens > self._left:
            return False
        self._left -= tokens
        return True


class PythonFile(TextFile):
    """Parsed when something first asks for its tree; one that does not parse has an empty tree."""

    def __init__(self, path: str, text: str, budget: Budget | None = None) -> None:
        super().__init__(path, text)
        self._budget = budget

    @cached_property
    def _parsed(self) -> tuple[ast.Module, Why | None]:
        why = self._refusal()
        if why is not None:
            return ast.Module(body=[], type_ignores=[]), why
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.text), None
        except SyntaxError:
            why = Why.NOT_PYTHON_3 if PYTHON_2.search(self.text) else Why.BROKEN
        except (ValueError, RecursionError, MemoryError):
            why = Why.BROKEN
        return ast.Module(body=[], type_ignores=[]), why

    def _refusal(self) -> Why | None:
        """Why it is not even tried: a table of numbers, or more code than fits in memory."""
        num_tokens = len(self.text) // USUAL_TOKEN
        if num_tokens * USUAL_TOKEN > MOST_TOKENS:
            num_tokens = sum(1 for _ in TOKEN.finditer(self.text))
        if num_tokens > MOST_TOKENS:
            return Why.TOO_LARGE
        return None if self._budget is None or self._budget.take(num_tokens) else Why.TOO_MANY

    @property
    def tree(self) -> ast.Module:
        return self._parsed[0]

    @property
    def broken(self) -> Why | None:
        parsed: tuple[object, Why | None] | None = self.__dict__.get("_parsed")
        return parsed[1] if parsed else None

    @cached_property
    def _index(self) -> tuple[dict[type, list[ast.AST]], dict[ast.AST, ast.AST]]:
        """All nodes by type, in the order of the source, and the parent of each."""
        by_type: dict[type, list[ast.AST]] = {}
        parents: dict[ast.AST, ast.AST] = {}
        todo: list[ast.AST] = [self.tree]
        while todo:
            node = todo.pop()
            by_type.setdefault(type(node), []).append(node)
            children = _children(node)
            for child in children:
                parents[child] = node
            todo += reversed(children)
        return by_type, parents

    @overload
    def nodes(self, one: type[One], /) -> list[One]: ...
    @overload
    def nodes(self, one: type[One], two: type[Two], /) -> list[One | Two]: ...
    @overload
    def nodes(
        self, one: type[One], two: type[Two], three: type[Three], /
    ) -> list[One | Two | Three]: ...
    def nodes(self, *types: type[ast.AST]) -> Sequence[ast.AST]:
        """All nodes of these types; of one type in the order of the source."""
        if self._budget is not None:
            self._budget.check_time()
        by_type = self._index[0]
        return [node for kind in types for node in by_type.get(kind, ())]

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._index[1].get(node)

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """From the parent of a node up to the module."""
        found = []
        above = self.parent(node)
        while above is not None:
            found.append(above)
            above = self.parent(above)
        return found

    def function_of(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function that a node stands in."""
        for above in self.ancestors(node):
            if isinstance(above, FunctionNode):
                return above
        return None

    def loops_of(self, node: ast.AST) -> list[LoopNode]:
        """The loops around a node within its own function, innermost first.

        What stands in the head or in the `else` of a loop is not repeated by it.
        """
        found: list[LoopNode] = []
        below: ast.AST = node
        for above in self.ancestors(node):
            if isinstance(above, FunctionNode | ast.Lambda | ast.ClassDef):
                break
            if isinstance(above, LoopNode) and _repeats(above, below):
                found.append(above)
            below = above
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """What names stand for: `{"np": "numpy", "save": "torch.save"}`."""
        found: dict[str, str] = {}
        for plain in self.nodes(ast.Import):
            for alias in plain.names:
                if alias.asname:
                    found[alias.asname] = alias.name
                else:
                    top = alias.name.partition(".")[0]
                    found[top] = top
        for node in self.nodes(ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            joint = "" if module.endswith(".") or not module else "."
            for alias in node.names:
                found[alias.asname or alias.name] = f"{module}{joint}{alias.name}"
        return found

    def name_of(self, node: ast.AST) -> str | None:
        """The dotted name that an expression stands for, imports looked through.

        `T.save` is `torch.save` after `import torch as T`; `self.model.step` stays as it is.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        parts.append(self.imports.get(node.id, node.id))
        return ".".join(reversed(parts))

    def calls(self, *names: str) -> list[ast.Call]:
        """The calls of functions by their dotted names, in the order of the source."""
        return [call for call in self.nodes(ast.Call) if self.name_of(call.func) in names]


def _children(node: ast.AST) -> list[ast.AST]:
    """As `ast.iter_child_nodes`, in half the time; shared nodes such as `Load` are left out."""
    found: list[ast.AST] = []
    for value in node.__dict__.values():
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST) and value._fields:
            found.append(value)
    return found


def _repeats(loop: LoopNode, part: ast.AST) -> bool:
    if part in loop.body:
        return True
    return isinstance(loop, ast.While) and part is loop.test
