"""The places where a repository writes a checkpoint with `torch.save`.

Results, caches and metadata are left alone: something counts as a checkpoint by what is saved, or
by the names of the function and the file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.python import FunctionNode
from instride.doctor.rules.bindings import Bound, bound, handed_arguments, handed_function
from instride.doctor.rules.calls import HAND_OVERS
from instride.doctor.rules.flow import Flow, Reach, flow_of
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.own_calls import saves_otherwise
from instride.doctor.rules.remembering import once
from instride.doctor.rules.values import text_reaching, values_of

SAVE = "torch.save"
SAVES = re.compile(r"\w\.save\b|import\b[^\n]{0,200}\bsave\b")
"""In the text of a file that can save; cheaper than its tree."""
STATE = re.compile(
    r"state_dict\(|['\"](model|optimizer|optim|state_dict|model_state\w*|optimizer_state\w*"
    r"|net|generator|ema|weights)['\"]\s*:"
)
STATE_NAME = re.compile(
    r"\w*(checkpoint|ckpt|state_dict|snapshot|weights|params)\w*|(\w+_)?state|model_data|save_dict"
)
NOT_STATE = re.compile(
    r"\w*(meta|metric|result|pred|logit|loss|hist|embed|feature|token|dataset|data|cache|config"
    r"|args|vocab|label|sample|image|index|indices|stats|batch|output|gen|grad|attention|mask)\w*"
)
SMALL_STATE = re.compile(r"\w*(loader|sampler|rng|random|scheduler|scaler|tokenizer)\w*")
"""Written in no time, and beside the checkpoint itself."""
SAVING = re.compile(
    r"\w*(save|write|store|dump|persist)\w*(checkpoint|ckpt|model|state|weights|snapshot)\w*"
    r"|\w*(checkpoint|ckpt)\w*(save|write|store|dump|persist)\w*"
)
TEMPORARY = re.compile(
    r"(?<![a-z])(te?mp|temporary|tempdir|tempfile|partial|incomplete|staging|unfinished|part"
    r"|in_?progress|atomic\w*|swap)(?![a-z])",
    re.IGNORECASE,
)
FILE = re.compile(r"checkpoint|ckpt|model|weights|best|last|latest|epoch|step|snapshot", re.I)
IN_A_STORE = re.compile(r"fsspec|gfile|smart_open|\bfs\.open|blobfile|bf\.BlobFile")
"""In which an upload counts when it is complete."""
FILE_OBJECTS = {"f", "fp", "fd", "fh", "file", "fileobj", "file_obj", "stream", "handle", "buffer"}
MODULE_METHODS = {
    "state_dict", "parameters", "train", "eval", "named_parameters", "load_state_dict",
}  # fmt: skip
MODULE_NAMES = re.compile(r"\w*(model|net|network|generator|discriminator|encoder|decoder)\d*")
MOST_SAVES = 20
"""In one file: nobody writes more by hand."""
MOST_BOUND = 100
"""What one argument of a save is given by the callers of its function."""
LONGEST_CODE = 80


class Save(msgspec.Struct, frozen=True, eq=False):
    """A call of `torch.save`, or one that hands it to a thread."""

    file: PythonFile
    call: ast.Call
    thing: ast.expr
    target: ast.expr
    things: tuple[Bound, ...]
    """What is saved, looked through the parameters of helper functions."""
    targets: tuple[Bound, ...]
    is_handed_over: bool
    reach: Reach | None
    """How training comes to it again and again, if it does."""
    is_module: bool
    """A whole module is pickled."""

    @property
    def function(self) -> FunctionNode | None:
        return self.file.function_of(self.call)


@once
def checkpoint_saves(repository: Repository) -> list[Save]:
    """Where checkpoints are written, those of a training loop first."""
    flow = flow_of(repository)
    found = [
        save
        for file in repository.python_mentioning("torch")
        if flow.is_of_interest(file) and SAVES.search(file.text)
        for save in _saves_of(flow, file)
        if save.is_module or _is_checkpoint(save)
    ]
    return sorted(found, key=lambda save: save.reach is None)


def _saves_of(flow: Flow, file: PythonFile) -> Iterator[Save]:
    return islice(_all_saves_of(flow, file), MOST_SAVES)


def _all_saves_of(flow: Flow, file: PythonFile) -> Iterator[Save]:
    for call in file.nodes(ast.Call):
        if file.name_of(call.func) == SAVE and not saves_otherwise(file, call):
            by_lambda = _is_handed_over(file, call)
            yield from _save(flow, file, call, _arguments(call), is_handed_over=by_lambda)
        elif last_name(call.func) in HAND_OVERS:
            function, given = handed_function(call), handed_arguments(call)
            if function is not None and file.name_of(function) == SAVE and len(given) > 1:
                yield from _save(flow, file, call, (given[0], given[1]), is_handed_over=True)


def _is_handed_over(file: PythonFile, call: ast.Call) -> bool:
    """Whether it stands in a lambda that is given to a thread or a pool."""
    above = file.ancestors(call)
    return any(isinstance(each, ast.Lambda) for each in above) and any(
        isinstance(each, ast.Call) and last_name(each.func) in HAND_OVERS for each in above
    )


def _save(
    flow: Flow,
    file: PythonFile,
    call: ast.Call,
    arguments: tuple[ast.expr, ast.expr] | None,
    is_handed_over: bool,
) -> Iterator[Save]:
    if arguments is None:
        return
    thing, target = arguments
    things = tuple(islice(bound(flow, file, thing, 0), MOST_BOUND))
    yield Save(
        file=file,
        call=call,
        thing=thing,
        target=target,
        things=things,
        targets=tuple(islice(bound(flow, file, target, 1), MOST_BOUND)),
        is_handed_over=is_handed_over,
        reach=flow.reach(file, call),
        is_module=any(_is_module(each) for each in things),
    )


def _arguments(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    named = {each.arg: each.value for each in call.keywords}
    given = [*call.args]
    if given and isinstance(given[0], ast.Starred):
        return given[0], given[0]
    thing = given[0] if given else named.get("obj")
    target = given[1] if len(given) > 1 else named.get("f")
    return (thing, target) if thing is not None and target is not None else None


def _is_checkpoint(save: Save) -> bool:
    if any(_is_state(each) for each in save.things):
        return True
    if any(_is_named_otherwise(each.node) for each in save.things):
        return False
    function = save.function
    if function is not None and SAVING.fullmatch(function.name):
        return True
    return save.reach is not None and any(_is_checkpoint_file(each) for each in save.targets)


def _is_state(thing: Bound) -> bool:
    if any(_holds_states(each) for each in values_of(thing.file, thing.node)):
        return True
    if STATE.search(text_reaching(thing.file, thing.node)):
        return not _is_named_otherwise(thing.node)
    name = last_name(thing.node)
    return bool(STATE_NAME.fullmatch(name)) and not _is_named_otherwise(thing.node)


def _holds_states(value: ast.expr) -> bool:
    """`{"model": model.state_dict(), "opt": ...}`: whatever it is called."""
    return isinstance(value, ast.Dict) and any(
        isinstance(each, ast.Call)
        and last_name(each.func).endswith("state_dict")
        and not SMALL_STATE.fullmatch(last_name(getattr(each.func, "value", each)))
        for each in value.values
    )


def _is_named_otherwise(node: ast.expr) -> bool:
    name = last_name(node)
    if SMALL_STATE.fullmatch(name):
        return True
    return bool(NOT_STATE.fullmatch(name)) and not STATE_NAME.fullmatch(name)


def _is_checkpoint_file(target: Bound) -> bool:
    return FILE.search(text_reaching(target.file, target.node)) is not None


def _is_module(thing: Bound) -> bool:
    """Whether a name stands for a module: methods of modules are called on it in the same file."""
    node = thing.node
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    if not MODULE_NAMES.fullmatch(last_name(node).lower()):
        return False
    text = ast.unparse(node)
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr in MODULE_METHODS
        and ast.unparse(call.func.value) == text
        for call in thing.file.nodes(ast.Call)
    )


def code(node: ast.AST) -> str:
    """The source of a node for a sentence: in one line, cut where it is long."""
    text = ast.unparse(node)
    return text if len(text) <= LONGEST_CODE else text[: LONGEST_CODE - 3] + "..."
