"""What to write instead of a save that can be torn, blocks training or shares what it saves."""

from __future__ import annotations

import ast
import re

from instride.doctor.model import Fix, FixKind
from instride.doctor.repository import PythonFile
from instride.doctor.rules.editing import Edits
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.saves import SAVE, Save

NAMES = ("final_path", "checkpoint_path", "final_checkpoint_path")
FILE_USES = re.compile(r"\w*(replace|rename|move|copy|link|upload|load|push|size|stat|zip|sync)\w*")
"""Calls that need the file: not those that only tell its name."""
WHOLE = """\
torch.save(state, f"{path}.tmp")
with open(f"{path}.tmp", "rb+") as written:
    os.fsync(written.fileno())
os.replace(f"{path}.tmp", path)
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


def written_whole(save: Save) -> Fix:
    """Save beside the final name, make it durable, then give it the name."""
    statement = _statement(save)
    opened = _opened(save)
    if statement is None or (opened is None and _block_of(save) is not None):
        return Fix(FixKind.LINE, WHOLE)
    edits = Edits(save.file)
    if opened is not None:
        _write_file_whole(edits, save, *opened)
    else:
        _write_name_whole(edits, save, statement)
    edits.need("os")
    return edits.fix() or Fix(FixKind.LINE, WHOLE)


def _write_name_whole(edits: Edits, save: Save, statement: ast.stmt) -> None:
    indent = edits.indent(statement)
    if isinstance(save.target, ast.Name | ast.Attribute):
        path = ast.unparse(save.target)
    else:
        path = next((each for each in NAMES if not save.file.mentions(each)), "path_of_checkpoint")
        edits.before(statement.lineno, f"{indent}{path} = {ast.unparse(save.target)}")
    edits.replace(save.target, f'f"{{{path}}}.tmp"')
    edits.after(
        statement.end_lineno or statement.lineno,
        f'{indent}with open(f"{{{path}}}.tmp", "rb+") as written:',
        f"{indent}    os.fsync(written.fileno())",
        f'{indent}os.replace(f"{{{path}}}.tmp", {path})',
    )


def _opened(save: Save) -> tuple[ast.With, ast.expr] | None:
    """`with open(path, "wb") as f` around the save, and its path."""
    block = _block_of(save)
    return _path_of(block, block.items[0].context_expr) if block is not None else None


def _block_of(save: Save) -> ast.With | None:
    """The `with ... as f` around a save into `f`."""
    for above in save.file.ancestors(save.call):
        if isinstance(above, ast.With) and len(above.items) == 1:
            name = above.items[0].optional_vars
            if name is not None and ast.unparse(name) == ast.unparse(save.target):
                return above
    return None


def _path_of(block: ast.With, opening: ast.expr) -> tuple[ast.With, ast.expr] | None:
    match opening:
        case ast.Call(ast.Name("open"), [path, *_]):
            return block, path
    return None


def _write_file_whole(edits: Edits, save: Save, block: ast.With, path: ast.expr) -> None:
    statement = _statement(save)
    assert statement is not None
    name = ast.unparse(save.target)
    text = ast.unparse(path)
    indent = edits.indent(block)
    inner = edits.indent(statement)
    whole = f'f"{{{text}}}.tmp"' if '"' not in text and "'" not in text else f'{text} + ".tmp"'
    edits.replace(path, whole)
    edits.after(
        statement.end_lineno or statement.lineno,
        f"{inner}{name}.flush()",
        f"{inner}os.fsync({name}.fileno())",
    )
    edits.after(block.end_lineno or block.lineno, f"{indent}os.replace({whole}, {text})")


def written_behind(save: Save) -> Fix:
    """Copy the state, and let a thread write it whole while training goes on."""
    torch = _torch(save.file)
    lines = f"{ON_CPU}\n\n{IN_BACKGROUND}".replace("torch.", f"{torch}.")
    edits = Edits(save.file)
    if _statement(save) is None or _block_of(save) is not None or _is_used(save):
        return Fix(FixKind.LINE, lines)
    thing, target = ast.unparse(save.thing), ast.unparse(save.target)
    edits.replace(save.call, f"save_in_background({thing}, {target})")
    edits.define(*lines.splitlines())
    edits.need("copy", "os", "threading", *([torch] if torch == "torch" else []))
    return edits.fix() or Fix(FixKind.LINE, lines)


def _torch(file: PythonFile) -> str:
    """What the file calls it: some `import torch as th`."""
    return next((name for name, meant in file.imports.items() if meant == "torch"), "torch")


def _is_used(save: Save) -> bool:
    """Whether the code goes on to do something with the file, which must be there then."""
    names = {
        each.id
        for each in ast.walk(save.target)
        if isinstance(each, ast.Name) and each.id not in save.file.imports
    } - {"self", "args", "cfg", "config"}
    scope: ast.AST = save.function or save.file.tree
    return any(
        isinstance(call, ast.Call)
        and call.lineno > (save.call.end_lineno or save.call.lineno)
        and names & {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}
        and FILE_USES.fullmatch(last_name(call.func))
        for call in ast.walk(scope)
    )


def copied(file: PythonFile, node: ast.expr, state: ast.expr) -> Fix:
    """Copy everything in a state, not only the outermost dictionary."""
    edits = Edits(file)
    edits.replace(node, f"on_cpu({ast.unparse(state)})")
    if file.imports.get("torch") != "torch" or file.mentions("def on_cpu"):
        return Fix(FixKind.LINE, ON_CPU)
    edits.define(*ON_CPU.splitlines())
    edits.need("copy")
    return edits.fix() or Fix(FixKind.LINE, ON_CPU)


def _statement(save: Save) -> ast.stmt | None:
    """The statement that is nothing but the save, on lines of its own."""
    parent = save.file.parent(save.call)
    if not isinstance(parent, ast.Expr) or save.file.name_of(save.call.func) != SAVE:
        return None
    before = save.file.lines[parent.lineno - 1].encode()[: parent.col_offset]
    after = save.file.lines[(parent.end_lineno or 1) - 1].encode()[parent.end_col_offset or 0 :]
    tail = after.decode(errors="replace").strip()
    alone = not before.strip() and (not tail or tail.startswith("#"))
    return parent if alone and not isinstance(save.target, ast.Starred) else None
