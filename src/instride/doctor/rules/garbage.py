"""Where memory is cleaned up by hand, and whether a training comes past there.

What counts is a collection in every step, one that is repeated (a second one in a row finds
nothing new), and an emptied cache in every step or after a save. A single collection after a save
or an evaluation is left alone, and so is all of it in scripts that do not train.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import msgspec

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.python import FunctionNode
from instride.doctor.rules.every_step import every_step
from instride.doctor.rules.loops import last_name, nodes_in, step_loops
from instride.doctor.rules.passing import call_sites, is_after_each_save, is_in_step_loop
from instride.doctor.rules.remembering import once

COLLECT = {"gc.collect"}
WHOLE = 2
"""The generation that a full collection goes up to; younger ones are cheap."""
CLEANING = {
    "collect", "empty_cache", "ipc_collect", "is_available", "synchronize", "print", "info",
    "debug", "reset_peak_memory_stats", "memory_allocated", "memory_reserved", "getLogger",
}  # fmt: skip
"""What a function that does nothing but clean up calls."""
EMPTY = {f"torch.{device}.empty_cache" for device in ("cuda", "mps", "xpu", "npu", "accelerator")}
MOST_CALLS = 100
"""Of a file; one with more was not written by people."""
NEAR = 4
"""Statements between two calls that belong together."""
GATHERS = ("FullStateDictConfig", "full_state_dict", "summon_full_params", "FSDP")
"""What makes large copies on the device for a save: there, an emptied cache helps the next step."""


class Cleaning(msgspec.Struct, frozen=True, eq=False):
    """Collections and emptied caches that stand together."""

    file: PythonFile
    block: Sequence[ast.stmt]
    collects: list[ast.Call]
    empties: list[ast.Call]
    times: int
    """So often garbage is collected each time."""
    in_every_step: bool

    @property
    def matters(self) -> bool:
        """Whether it would be worth a word, if a training comes past."""
        return self.times > 1 or bool(self.empties)

    @property
    def is_often(self) -> bool:
        return self.times > 1 or (self.in_every_step and self.times > 0)


@once
def cleanings(repository: Repository) -> list[Cleaning]:
    """All that a training comes past, in the order of the files."""
    ran = {id(each.call) for loop in step_loops(repository) for each in every_step(loop)}
    return [
        cleaning
        for file in repository.python_mentioning("gc.collect", "import collect", "empty_cache")
        for cleaning in _cleanings_of(file, ran)
        if cleaning.in_every_step or (cleaning.matters and _is_passed(repository, cleaning))
    ]


def _cleanings_of(file: PythonFile, ran: set[int]) -> Iterator[Cleaning]:
    collects = [call for call in file.calls(*COLLECT) if _is_whole(call)][:MOST_CALLS]
    empties = file.calls(*EMPTY)[:MOST_CALLS]
    done: set[int] = set()
    for call in [*collects, *empties]:
        block = _block_of(file, call)
        if block is None or id(call) in done:
            continue
        near = _near(block, call)
        here = {id(node) for node in nodes_in(near)}
        mine = [each for each in collects if id(each) in here and _block_of(file, each) is block]
        beside = [each for each in empties if id(each) in here and id(each) not in done]
        done.update(id(each) for each in (*mine, *beside))
        yield Cleaning(
            file,
            near,
            mine,
            beside,
            sum(_repetitions(file, each) for each in mine),
            any(id(each) in ran for each in (*mine, *beside)),
        )


def _is_whole(call: ast.Call) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return all(isinstance(each, ast.Constant) and each.value == WHOLE for each in given)


def _block_of(file: PythonFile, call: ast.Call) -> Sequence[ast.stmt] | None:
    """The statements that a call stands among; for one that is only repeated, those of the loop."""
    node: ast.AST = call
    for above in file.ancestors(call):
        if isinstance(node, ast.stmt) and not _only_repeats(above):
            return _block_in(above, node)
        node = above
    return None


def _near(block: Sequence[ast.stmt], call: ast.Call) -> Sequence[ast.stmt]:
    """The statements around a call that belong together with it."""
    position = next(i for i, each in enumerate(block) if call in set(nodes_in([each])))
    return block[max(0, position - NEAR) : position + NEAR + 1]


def _block_in(owner: ast.AST, statement: ast.stmt) -> Sequence[ast.stmt] | None:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(owner, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return None


def _only_repeats(node: ast.AST | None) -> bool:
    return _times(node) > 1


def _times(loop: ast.AST | None) -> int:
    """3 for `for _ in range(3): gc.collect()`; 1 for whatever does more."""
    match loop:
        case ast.For(iter=ast.Call(ast.Name("range"), [ast.Constant(int(count))]), body=body):
            return count if all(map(_cleans, body)) else 1
    return 1


def _cleans(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Call(func)):
            return last_name(func) in {"collect", "empty_cache"}
    return False


def _repetitions(file: PythonFile, call: ast.Call) -> int:
    """How often a call runs among its statements."""
    statement = file.parent(call)
    return _times(file.parent(statement)) if isinstance(statement, ast.Expr) else 1


def _is_passed(repository: Repository, cleaning: Cleaning) -> bool:
    """Whether a training comes past again and again: in its loop, or after each save."""
    file, first = cleaning.file, [*cleaning.collects, *cleaning.empties][0]
    sites = [(file, first)]
    function = file.function_of(first)
    # What evaluates may empty a cache at its end; what does nothing else is there for the purpose.
    if cleaning.times > 1 or (function is not None and _only_cleans(function)):
        sites += call_sites(repository, file, first)
    return any(
        is_in_step_loop(repository, other, site) or is_after_each_save(repository, other, site)
        for other, site in sites
    )


def _only_cleans(function: FunctionNode) -> bool:
    calls = (node for node in nodes_in(function.body) if isinstance(node, ast.Call))
    return all(last_name(call.func) in CLEANING for call in calls)


def empties_after_save(repository: Repository, cleaning: Cleaning) -> bool:
    """Whether a cache is emptied after a save that makes no large copies on the device."""
    file, call = cleaning.file, cleaning.empties[0]
    sites = [(file, call), *call_sites(repository, file, call)]
    if any(other.mentions(*GATHERS) for other, _ in sites):
        return False
    return any(is_after_each_save(repository, other, site) for other, site in sites)
