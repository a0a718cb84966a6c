"""What to write instead of a save that blocks training, or shares what it saves with it."""

from __future__ import annotations

import ast

from instride.doctor.model import Fix, FixKind
from instride.doctor.repository import PythonFile
from instride.doctor.rules.editing import Edits
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.save_statements import block_of, is_used, statement_of
from instride.doctor.rules.saves import FILE_OBJECTS, IN_A_STORE, Save
from instride.doctor.rules.values import text_reaching
from instride.system import background

BY_INSTRIDE = """\
import instride

pending = instride.save(state, path)
pending.wait()  # only before something needs the file
"""
ON_CPU = '''\
def on_cpu(state):
    """A copy that training cannot change any more."""
    if isinstance(state, torch.Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {key: on_cpu(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)([on_cpu(value) for value in state])
    return copy.deepcopy(state)
'''
IN_BACKGROUND = '''\
saving = None


def save_in_background(state, path):
    """Write a copy of the state while training goes on; one save at a time."""
    global saving
    if saving is not None:
        saving.join()
    saving = threading.Thread(target=write_whole, args=(on_cpu(state), path))
    saving.start()


def write_whole(state, path):
    torch.save(state, f"{path}.tmp")
    with open(f"{path}.tmp", "rb+") as written:
        os.fsync(written.fileno())
    os.replace(f"{path}.tmp", path)
'''


def written_behind(save: Save) -> Fix:
    """Leave the writing to another process, or to a thread where there is no such thing."""
    is_elsewhere = any(
        IN_A_STORE.search(text_reaching(save.file, each.node)) for each in save.targets
    )
    if background.is_possible() and not is_elsewhere:
        return _by_instride(save)
    return _by_thread(save)


def _by_instride(save: Save) -> Fix:
    """Another name for `torch.save`, where its file is given by a path and not used at once."""
    file, call = save.file, save.call
    if statement_of(save) is None or not _has_path(save) or is_used(save):
        return Fix(FixKind.LINE, BY_INSTRIDE)
    edits = Edits(file)
    edits.replace(call.func, "instride.save")
    edits.need("instride")
    return edits.fix() or Fix(FixKind.LINE, BY_INSTRIDE)


def _has_path(save: Save) -> bool:
    """Whether it is given a state and a path, and nothing else."""
    is_open = block_of(save) is not None or last_name(save.target) in FILE_OBJECTS
    return not is_open and len(save.call.args) == 2 and not save.call.keywords


def _by_thread(save: Save) -> Fix:
    """Copy the state, and let a thread write it whole while training goes on."""
    torch = _torch(save.file)
    lines = f"{ON_CPU}\n\n{IN_BACKGROUND}".replace("torch.", f"{torch}.")
    edits = Edits(save.file)
    if statement_of(save) is None or block_of(save) is not None or is_used(save):
        return Fix(FixKind.LINE, lines)
    thing, target = ast.unparse(save.thing), ast.unparse(save.target)
    edits.replace(save.call, f"save_in_background({thing}, {target})")
    edits.define(*lines.splitlines())
    edits.need("copy", "os", "threading", *([torch] if torch == "torch" else []))
    return edits.fix() or Fix(FixKind.LINE, lines)


def _torch(file: PythonFile) -> str:
    """What the file calls it: some `import torch as th`."""
    return next((name for name, meant in file.imports.items() if meant == "torch"), "torch")


def copied(file: PythonFile, node: ast.expr, state: ast.expr) -> Fix:
    """Copy everything in a state, not only the outermost dictionary."""
    edits = Edits(file)
    edits.replace(node, f"on_cpu({ast.unparse(state)})")
    if file.imports.get("torch") != "torch" or file.mentions("def on_cpu"):
        return Fix(FixKind.LINE, ON_CPU)
    edits.define(*ON_CPU.splitlines())
    edits.need("copy")
    return edits.fix() or Fix(FixKind.LINE, ON_CPU)
