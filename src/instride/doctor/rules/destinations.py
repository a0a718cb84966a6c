"""Where the code of a repository saves checkpoints, as far as its calls say so plainly."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from instride.doctor.repository import PythonFile, Repository, TextFile
from instride.doctor.rules.flow import Flow, flow_of
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.own_calls import SAVERS, SAVES
from instride.doctor.rules.plain_paths import PlainPaths, Texts
from instride.doctor.rules.saves import TEMPORARY, Save, checkpoint_saves

TRAINERS = (
    (re.compile(r"\w*TrainingArguments"), "output_dir", 0),
    (re.compile(r"(SFT|DPO|ORPO|KTO|CPO|GRPO|PPO|RLOO|Reward)Config"), "output_dir", None),
    (re.compile(r"ModelCheckpoint|OnExceptionCheckpoint"), "dirpath", 0),
    (re.compile(r"Trainer"), "default_root_dir", None),
)
"""What tells a trainer where to save: the name of the call, the argument, its position if any."""
SAVING = {"save_pretrained", "save_state", "save_model", "save_checkpoint"}
"""Methods of trainers and models, which take a directory first."""
MENTIONS = ("instride", *(argument for _, argument, _ in TRAINERS), "TrainingArguments", *SAVING)
MOVES = ("shutil.", "os.replace", "os.rename")


class Destinations(msgspec.Struct, frozen=True, eq=False):
    directories: tuple[str, ...]
    """As they are written; relative ones begin where the program is started."""
    told_by: frozenset[TextFile]
    """Files whose saves all say where they go: nothing in them has to be guessed."""


NOTHING_TOLD = Destinations((), frozenset())


def destinations(repository: Repository) -> Destinations:
    found: dict[str, None] = {}
    told: dict[PythonFile, bool] = {}
    for file, directories in _saves(repository):
        found.update(dict.fromkeys(directories))
        told[file] = told.get(file, True) and bool(directories)
    return Destinations(tuple(found), frozenset(each for each in told if told[each]))


def _saves(repository: Repository) -> Iterator[tuple[PythonFile, Texts]]:
    """Each call that saves, and the directories that it names; none where that is not sure."""
    paths = PlainPaths(repository)
    flow = flow_of(repository)
    for file in repository.python_mentioning(*MENTIONS):
        if flow.is_of_interest(file):
            for node in _own(file):
                yield file, paths.directories(file, node)
            for node in _own_files(file):
                yield file, paths.parents(file, node)
            for node in _of_trainers(file):
                yield file, paths.directories(file, node)
            for call in _by_method(flow, file):
                is_repeated = flow.reach(file, call) is not None
                given = call.args[0] if is_repeated and call.args else None
                yield file, () if given is None else _no_files(paths.directories(file, given))
    for save in checkpoint_saves(repository):
        if save.reach is not None or save.file.mentions(".backward("):
            for target in save.targets:
                yield save.file, _lasting(save, paths.parents(target.file, target.node))


def _own(file: PythonFile) -> Iterator[ast.expr]:
    """`instride.Saver("checkpoints", ...)`."""
    for call in file.calls(*SAVERS):
        yield from _argument(call, "directory", 0)


def _own_files(file: PythonFile) -> Iterator[ast.expr]:
    """`instride.save(state, "out/ckpt.pt")`."""
    for call in file.calls(*SAVES):
        yield from _argument(call, "path", 1)


def _of_trainers(file: PythonFile) -> Iterator[ast.expr]:
    calls = file.nodes(ast.Call)
    for pattern, name, position in TRAINERS:
        given = [
            node
            for call in calls
            if pattern.fullmatch(last_name(call.func))
            for node in _argument(call, name, position)
        ]
        yield from given
        if name == "dirpath" and given:
            return  # the root directory of that trainer has logs only


def _by_method(flow: Flow, file: PythonFile) -> Iterator[ast.Call]:
    """`model.save_pretrained(directory)`, where that is no function of the repository."""
    for name in sorted(SAVING):
        for call in flow.calls_in(file, name):
            if isinstance(call.func, ast.Attribute) and not flow.meant(file, call.func):
                yield call


def _no_files(paths: Texts) -> Texts:
    return () if any(PurePosixPath(each).suffix for each in paths) else paths


def _argument(call: ast.Call, name: str, position: int | None) -> Iterator[ast.expr]:
    for keyword in call.keywords:
        if keyword.arg == name:
            yield keyword.value
            return
    if position is not None and len(call.args) > position:
        node = call.args[position]
        if not any(isinstance(each, ast.Starred) for each in call.args[: position + 1]):
            yield node


def _lasting(save: Save, directories: Texts) -> Texts:
    """Nothing where a file is written in one place to be moved to another one."""
    if save.file.mentions(*MOVES) and any(TEMPORARY.search(each) for each in directories):
        return ()
    return directories
