"""Where a repository's code deletes checkpoints."""

from __future__ import annotations

import ast
import re

import msgspec

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.python import FunctionNode
from instride.doctor.rules.flow import Reach, flow_of
from instride.doctor.rules.remembering import once
from instride.doctor.rules.saves import TEMPORARY
from instride.doctor.rules.started import CHECKPOINTS
from instride.doctor.rules.values import text_reaching

DELETES = {"os.remove", "os.unlink", "shutil.rmtree", "os.removedirs"}
DELETING_METHODS = {"unlink", "rmtree"}
WORDS = ("os.remove", "unlink", "rmtree", "remove(")
OLD = re.compile(
    r"keep|max_(history|num|ckpt|checkpoint|save)|total_limit|_limit\b|last_n|top_?k|old|prun|purg"
    r"|rotat|clean|stale|exceed|previous|prev_",
    re.IGNORECASE,
)
NOT_CHECKPOINTS = re.compile(r"\.(log|json|txt|png|html|csv|lock)\b|cache|trash|events", re.I)


class Deletion(msgspec.Struct, frozen=True, eq=False):
    file: PythonFile
    call: ast.Call
    function: FunctionNode | None
    is_of_old: bool
    """It makes room by age or number, it does not only make way for a file of the same name."""
    reach: Reach | None

    @property
    def name(self) -> str:
        """What to call it: its function, or the call itself."""
        return f"{self.function.name}()" if self.function is not None else ast.unparse(self.call)


@once
def deletions(repository: Repository) -> list[Deletion]:
    """Calls that delete checkpoints, in code that can be part of a training."""
    flow = flow_of(repository)
    found = []
    for file in repository.python_mentioning(*WORDS):
        if not flow.is_of_interest(file):
            continue
        for call in file.nodes(ast.Call):
            thing = deleted(file, call)
            if thing is None or not _is_checkpoint(file, call, thing):
                continue
            context = _context(file, call)
            found.append(
                Deletion(
                    file,
                    call,
                    file.function_of(call),
                    is_of_old=OLD.search(context) is not None,
                    reach=flow.reach(file, call),
                )
            )
    return found


def deleted(file: PythonFile, call: ast.Call) -> ast.expr | None:
    """What a call deletes, if it does."""
    if file.name_of(call.func) in DELETES:
        return call.args[0] if call.args else None
    if isinstance(call.func, ast.Attribute) and call.func.attr in DELETING_METHODS:
        return call.args[0] if call.func.attr == "rmtree" and call.args else call.func.value
    return None


def _is_checkpoint(file: PythonFile, call: ast.Call, thing: ast.expr) -> bool:
    text = text_reaching(file, thing)
    if TEMPORARY.search(text) or NOT_CHECKPOINTS.search(ast.unparse(thing)):
        return False
    function = file.function_of(call)
    name = function.name if function is not None else ""
    if TEMPORARY.search(name):
        return False
    return bool(CHECKPOINTS.search(text) or CHECKPOINTS.search(name))


def _context(file: PythonFile, call: ast.Call) -> str:
    """What says why something is deleted: the function's name and the heads of blocks around."""
    parts = [ast.unparse(call)]
    for above in file.ancestors(call):
        if isinstance(above, FunctionNode):
            parts.append(f"{above.name} {ast.unparse(above.args)}")
            break
        if isinstance(above, ast.If | ast.While):
            parts.append(ast.unparse(above.test))
        elif isinstance(above, ast.For | ast.AsyncFor):
            parts.append(text_reaching(file, above.iter))
    return "\n".join(parts)
