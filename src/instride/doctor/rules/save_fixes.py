"""What to write instead of a save that can be torn."""

from __future__ import annotations

import ast

from instride.doctor.model import Fix, FixKind
from instride.doctor.rules.editing import Edits
from instride.doctor.rules.save_statements import block_of, statement_of
from instride.doctor.rules.saves import Save

NAMES = ("final_path", "checkpoint_path", "final_checkpoint_path")
WHOLE = """\
torch.save(state, f"{path}.tmp")
with open(f"{path}.tmp", "rb+") as written:
    os.fsync(written.fileno())
os.replace(f"{path}.tmp", path)
"""


def written_whole(save: Save) -> Fix:
    """Save beside the final name, make it durable, then give it the name."""
    statement = statement_of(save)
    opened = _opened(save)
    if statement is None or (opened is None and block_of(save) is not None):
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
    block = block_of(save)
    return _path_of(block, block.items[0].context_expr) if block is not None else None


def _path_of(block: ast.With, opening: ast.expr) -> tuple[ast.With, ast.expr] | None:
    match opening:
        case ast.Call(ast.Name("open"), [path, *_]):
            return block, path
    return None


def _write_file_whole(edits: Edits, save: Save, block: ast.With, path: ast.expr) -> None:
    statement = statement_of(save)
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
