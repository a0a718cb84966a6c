"""Saving: under the final name, in the training thread, by daemon threads, modules as a whole."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from instride.doctor.model import Certainty, Finding, Fix, FixKind
from instride.doctor.repository import PythonFile, Repository
from instride.doctor.request import Request
from instride.doctor.rules import background_fixes, save_fixes
from instride.doctor.rules.bindings import Bound
from instride.doctor.rules.editing import Edits
from instride.doctor.rules.flow import Reach
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.saves import (
    FILE_OBJECTS,
    IN_A_STORE,
    TEMPORARY,
    Save,
    checkpoint_saves,
    code,
)
from instride.doctor.rules.values import parameters, text_reaching

IN_MEMORY = re.compile(r"BytesIO|buffer|\bbuf\b|socket|Queue")
RENAMES = {"os.replace", "os.rename", "os.renames", "shutil.move"}
RENAMING = re.compile(r"\w*(replace|rename|move|commit|publish|finali[sz]e|atomic)\w*")


def save_in_place(repository: Repository, request: Request) -> Iterator[Finding]:
    """Checkpoints that get their final name before they are whole."""
    for save in checkpoint_saves(repository):
        final = next((each for each in save.targets if _is_final(save, each)), None)
        if save.reach is None or final is None:
            continue
        shown = final.node if isinstance(save.target, ast.Starred) else save.target
        yield Finding(
            "save-in-place",
            {"target": code(shown)},
            (save.file.place(save.call.lineno),),
            _certainty(save.reach),
            (save_fixes.written_whole(save),),
        )


def _certainty(reach: Reach) -> Certainty:
    return Certainty.LIKELY if reach.is_guessed else Certainty.SURE


def _is_final(save: Save, target: Bound) -> bool:
    """Whether something is written under the name that it will keep."""
    text = text_reaching(target.file, target.node)
    own = text_reaching(save.file, save.target)
    if any(each.search(text) or each.search(own) for each in (IN_MEMORY, IN_A_STORE, TEMPORARY)):
        return False
    if _is_unknown_file(target):
        return False
    return not (_is_renamed(save.file, save.target) or _is_renamed(target.file, target.node))


def _is_unknown_file(target: Bound) -> bool:
    """Whether it is a parameter that nobody is seen to call with, and could be an open file."""
    function = target.file.function_of(target.node)
    return (
        function is not None
        and isinstance(target.node, ast.Name)
        and target.node.id in FILE_OBJECTS
        and target.node.id in parameters(function)
    )


def _is_renamed(file: PythonFile, target: ast.expr) -> bool:
    """Whether the function goes on to rename what it wrote, or is one that does it all."""
    function = file.function_of(target)
    if function is not None and TEMPORARY.search(function.name):
        return True
    scope: ast.AST = function or file.tree
    return any(
        _is_part(file, source, target)
        for call in ast.walk(scope)
        if isinstance(call, ast.Call) and call.lineno >= target.lineno
        for source in _renamed(file, call)
    )


def _renamed(file: PythonFile, call: ast.Call) -> list[ast.expr]:
    """What a call gives another name, or may."""
    if file.name_of(call.func) in RENAMES:
        return call.args[:1]
    if isinstance(call.func, ast.Attribute) and call.func.attr in {"replace", "rename"}:
        return [call.func.value] if len(call.args) == 1 else []
    return call.args if RENAMING.fullmatch(last_name(call.func)) else []


def _is_part(file: PythonFile, source: ast.expr, target: ast.expr) -> bool:
    """Whether a path is what was written, or a folder that it was written to."""
    if ast.unparse(source) == ast.unparse(target):
        return True
    is_built = any(isinstance(each, ast.Constant) for each in ast.walk(source))
    return not is_built and bool(_variables(file, source) & _variables(file, target))


def _variables(file: PythonFile, node: ast.expr) -> set[str]:
    """`path` and `self.path`, but neither `os.path` nor what is called."""
    found: set[str] = set()
    todo: list[ast.AST] = [node]
    while todo:
        each = todo.pop()
        if isinstance(each, ast.Name | ast.Attribute):
            name = file.name_of(each) or ""
            if name.partition(".")[0] not in file.imports:
                found.add(name)
        elif isinstance(each, ast.Call):
            receiver = each.func.value if isinstance(each.func, ast.Attribute) else None
            todo += [*each.args, *([receiver] if receiver is not None else [])]
        else:
            todo += ast.iter_child_nodes(each)
    return found - {""}


def save_blocks_training(repository: Repository, request: Request) -> Iterator[Finding]:
    """Saves that training waits for, in its own thread."""
    for save in checkpoint_saves(repository):
        reach = save.reach
        if reach is None or reach.by_thread or save.is_handed_over or _is_in_memory(save):
            continue
        loop = reach.file.place(reach.loop.lineno)
        yield Finding(
            "save-blocks-training",
            {"loop": f"{loop.path}:{loop.line}"},
            (save.file.place(save.call.lineno), loop),
            _certainty(reach),
            (background_fixes.written_behind(save),),
        )


def _is_in_memory(save: Save) -> bool:
    return all(IN_MEMORY.search(text_reaching(each.file, each.node)) for each in save.targets)


def module_pickled(repository: Repository, request: Request) -> Iterator[Finding]:
    """Whole modules in a file, which only this code can read again."""
    for save in checkpoint_saves(repository):
        if save.is_module and not save.is_handed_over:
            yield Finding(
                "module-pickled",
                {"module": code(save.thing)},
                (save.file.place(save.call.lineno),),
                Certainty.LIKELY,
                (_state_instead(save),),
            )


def _state_instead(save: Save) -> Fix:
    edits = Edits(save.file)
    edits.replace(save.thing, f"{ast.unparse(save.thing)}.state_dict()")
    return edits.fix() or Fix(FixKind.LINE, "torch.save(model.state_dict(), path)\n")
