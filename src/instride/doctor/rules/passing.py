"""Whether a training comes past a piece of code: in its loop, or after each of its saves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.python import LoopNode
from instride.doctor.rules.every_step import STEADY
from instride.doctor.rules.loops import calls_in, last_name, source, step_loops
from instride.doctor.rules.remembering import once

SAVES = re.compile(
    r"(async_)?save_?(\w*(checkpoint|ckpt|model|state|weights|snapshot|pretrained|file)\w*)?"
    r"|\w*(checkpoint|ckpt|snapshot)_?sav\w*|write_\w*(checkpoint|ckpt)\w*"
)
SAVERS = re.compile(
    r"torch|dcp|checkpoint\w*|ckpt\w*|\w*(saver|manager|checkpointer)|accelerator|fabric|xm|st"
)
"""What `save` alone is a method of, where it saves a checkpoint: a picture has one, too."""
NEAR = 6
"""Statements between a save and what belongs to it."""
MOST_SITES = 40
"""Calls of one function that are looked at."""
STARTS = {"Thread", "Process", "submit"}
Site = tuple[PythonFile, ast.Call]


def is_in_step_loop(repository: Repository, file: PythonFile, call: ast.Call) -> bool:
    """Whether a call stands in a step loop, under any condition."""
    loops = {id(loop.node) for loop in step_loops(repository)}
    return any(id(above) in loops for above in file.ancestors(call))


def is_after_each_save(repository: Repository, file: PythonFile, call: ast.Call) -> bool:
    """Whether a checkpoint is saved before a call, and both happen again and again."""
    if not any(map(_saves, calls_in(_statements_before(file, call)))):
        return False
    return bool(file.loops_of(call)) or _is_called_in_loop(repository, file, call)


def _statements_before(file: PythonFile, call: ast.Call) -> list[ast.stmt]:
    """The last statements before the one that a call is in, past questions for the device."""
    below: ast.AST = call
    for above in file.ancestors(call):
        blocks = (getattr(above, name, None) for name in ("body", "orelse", "finalbody"))
        for block in blocks:
            if isinstance(block, list) and below in block:
                if isinstance(above, ast.If) and STEADY.fullmatch(source(above.test)):
                    break
                position = block.index(below)
                before = block[max(0, position - NEAR) : position]
                # After a loop that saves comes the end of the training.
                loops = [i for i, each in enumerate(before, 1) if isinstance(each, LoopNode)]
                return before[max(loops, default=0) :]
        below = above
    return []


def _saves(call: ast.Call) -> bool:
    """Whether a call saves a checkpoint, or has it saved: `Thread(target=save_checkpoint)`."""
    names = [last_name(call.func)]
    if names[0] in STARTS:
        names = [last_name(each) for each in (*call.args, *(one.value for one in call.keywords))]
    if names == ["save"]:
        func = call.func
        return isinstance(func, ast.Attribute) and bool(SAVERS.fullmatch(last_name(func.value)))
    return any(SAVES.fullmatch(name) for name in names)


def _is_called_in_loop(repository: Repository, file: PythonFile, call: ast.Call) -> bool:
    """Whether the function around a call runs in a loop, itself or its caller."""
    for other, site in call_sites(repository, file, call):
        if other.loops_of(site):
            return True
        if any(last.loops_of(above) for last, above in call_sites(repository, other, site)):
            return True
    return False


def call_sites(repository: Repository, file: PythonFile, call: ast.Call) -> Iterator[Site]:
    """Where the function around a call is called, in its own file or where it is imported."""
    return islice(_call_sites(repository, file, call), MOST_SITES)


def _call_sites(repository: Repository, file: PythonFile, call: ast.Call) -> Iterator[Site]:
    function = file.function_of(call)
    if function is None or function.name.startswith("__"):
        return
    name = function.name
    is_method = isinstance(file.parent(function), ast.ClassDef)
    for other in repository.python_mentioning(f"{name}("):
        if other is not file and not is_method and not _imports(other, file, name):
            continue
        for site in _calls_by_name(other).get(name, ()):
            if is_method == _is_of_object(other, site):
                yield other, site


def _imports(other: PythonFile, file: PythonFile, name: str) -> bool:
    """Whether a file may have a function of another: by its name, or through its module."""
    module = file.path.removesuffix(".py").rpartition("/")[2]
    return any(
        dotted.rpartition(".")[2] in {name, module, "*"} for dotted in other.imports.values()
    )


@once
def _calls_by_name(file: PythonFile) -> dict[str, list[ast.Call]]:
    found: dict[str, list[ast.Call]] = {}
    for call in file.nodes(ast.Call):
        found.setdefault(last_name(call.func), []).append(call)
    return found


def _is_of_object(file: PythonFile, call: ast.Call) -> bool:
    """Whether a call is of a method: `model.train()`, but not `utils.clean()` of a module."""
    match call.func:
        case ast.Attribute(ast.Name(name)):
            return name not in file.imports
    return isinstance(call.func, ast.Attribute)
