"""Clean-up of old checkpoints: two owners of it, and deleting before the new one is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec

from instride.doctor.diffs import diff
from instride.doctor.model import Certainty, Finding, Fix, FixKind
from instride.doctor.repository import ConfigFile, PythonFile, Repository, ScriptFile, TextFile
from instride.doctor.request import Request
from instride.doctor.rules.calls import Function
from instride.doctor.rules.compressing import reads, watches_checkpoints
from instride.doctor.rules.deletions import Deletion, deleted, deletions
from instride.doctor.rules.editing import Edits
from instride.doctor.rules.flow import flow_of
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.saves import checkpoint_saves
from instride.doctor.rules.started import CHECKPOINTS, TRAINING

OPTIONS = {"save_total_limit": "None", "save_top_k": "-1"}
"""Options of trainers that delete, and what turns that off."""
KEEPING = re.compile(
    r"(max_)?(keep|retain)(_\w+)?|max_(checkpoints|files|history|to_keep|backups)|retention(_\w+)?"
    r"|num_to_keep|max_age(_\w+)?",
    re.IGNORECASE,
)
BY_AGE = {"-mtime", "-mmin", "-ctime", "-cmin", "-newer"}
BY_TIME = re.compile(r"-[a-zA-Z]*t[a-zA-Z]*")
REAPERS = {"tmpwatch", "tmpreaper"}
MANUAL = re.compile(r"\w*(clean|purge|reset|distclean)\w*", re.IGNORECASE)
SAVING_CALLS = {"save_pretrained", "save_state", "save_checkpoint", "save_model"}


class Owner(msgspec.Struct, frozen=True, eq=False):
    """Something that deletes old checkpoints."""

    file: TextFile
    line: int
    name: str
    fix: Fix | None
    """What ends it."""
    is_sure: bool = True


def two_cleaners(repository: Repository, request: Request) -> Iterator[Finding]:
    """Old checkpoints with two owners, of different kinds."""
    kinds = [_functions, _options, _foreign_configs, _scripts]
    owners = [owner for kind in kinds for owner in [next(kind(repository), None)] if owner]
    if len(owners) < 2:
        return
    one, other = owners[:2]
    sure = all(owner.is_sure for owner in (one, other))
    fixes = [fix for fix in (other.fix, one.fix) if fix is not None]
    yield Finding(
        "two-cleaners",
        {"one": one.name, "other": other.name},
        (one.file.place(one.line), other.file.place(other.line)),
        Certainty.LIKELY if sure else Certainty.PERHAPS,
        tuple(fixes[:1]),
    )


def _functions(repository: Repository) -> Iterator[Owner]:
    for each in deletions(repository):
        if each.is_of_old and each.reach is not None:
            line = each.function.lineno if each.function is not None else each.call.lineno
            yield Owner(each.file, line, each.name, _not_called(repository, each))


def _not_called(repository: Repository, deletion: Deletion) -> Fix:
    """A diff without the call of a cleaning function."""
    if deletion.function is not None:
        function = Function(deletion.file, deletion.function)
        for file, call in flow_of(repository).callers(function):
            statement = file.parent(call)
            if isinstance(statement, ast.Expr):
                edits = Edits(file)
                edits.drop(statement)
                fix = edits.fix()
                if fix is not None:
                    return fix
    return Fix(FixKind.LINE, f"# {deletion.file.lines[deletion.call.lineno - 1].strip()}\n")


def _options(repository: Repository) -> Iterator[Owner]:
    cleaning = {each.file for each in deletions(repository) if each.is_of_old}
    for file in repository.python_mentioning(*OPTIONS):
        if file.aside and file not in cleaning:
            continue
        for call in file.nodes(ast.Call):
            for keyword in call.keywords:
                if keyword.arg in OPTIONS and _limits(keyword.value):
                    edits = Edits(file)
                    edits.replace(keyword.value, OPTIONS[keyword.arg])
                    name = f"{keyword.arg}={ast.unparse(keyword.value)}"
                    yield Owner(file, keyword.value.lineno, name, edits.fix())
    for config in repository.configs:
        if config.aside or not config.mentions(*OPTIONS):
            continue
        for entry in config.entries:
            value = entry.value
            if entry.key in OPTIONS and isinstance(value, int) and value > 0:
                name = f"{entry.key}: {value}"
                yield Owner(config, entry.line, name, _without_line(config, entry.line))


def _limits(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int) and value.value > 0
    return False  # a variable may well be None


def _without_line(config: ConfigFile, line: int) -> Fix | None:
    return diff(config, {line: []})


def _foreign_configs(repository: Repository) -> Iterator[Owner]:
    """Settings of a tool: nothing here reads them, and it watches checkpoints."""
    for config in repository.configs:
        if config.aside or not watches_checkpoints(config):
            continue
        for entry in config.entries:
            value = entry.value
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if is_number and KEEPING.fullmatch(entry.key) and not reads(repository, entry.key):
                name = f"{'.'.join(entry.path)} = {value}"
                yield Owner(config, entry.line, name, None)


def _scripts(repository: Repository) -> Iterator[Owner]:
    for file in repository.scripts:
        if file.aside or file.kind not in {"make", "shell"}:
            continue
        trains = any(TRAINING.search(each.text) for each in file.commands)
        for command in file.commands:
            if not _deletes_old(command.text) or not CHECKPOINTS.search(command.text):
                continue
            if file.kind == "make" and MANUAL.fullmatch(command.target):
                continue
            name = command.text if len(command.text) <= 60 else command.text[:57] + "..."
            yield Owner(file, command.line, name, _commented(file, command.line), trains)


def _deletes_old(text: str) -> bool:
    """`find -mtime ... -delete`, `ls -t | tail ... | xargs rm`, and what is made for it."""
    words = text.replace("|", " | ").split()
    if REAPERS & set(words):
        return True
    if "find" in words and BY_AGE & set(words):
        return "-delete" in words or "rm" in words
    is_cut = "tail" in words or "head" in words
    return "ls" in words and "rm" in words and is_cut and any(map(BY_TIME.fullmatch, words))


def _commented(file: ScriptFile, line: int) -> Fix | None:
    text = file.lines[line - 1]
    indent = text[: len(text) - len(text.lstrip())]
    return None if text.endswith("\\") else diff(file, {line: [f"{indent}# {text.lstrip()}"]})


def deletes_before_saving(repository: Repository, request: Request) -> Iterator[Finding]:
    """Deletions that come before the save in the same round of a training loop."""
    events = _Events(repository)
    for deletion in deletions(repository):
        for file, call in events.deleting(deletion):
            found = events.save_after(file, call)
            if found is not None:
                statement, save = found
                yield Finding(
                    "deletes-before-saving",
                    {"delete": ast.unparse(call)},
                    (file.place(call.lineno), file.place(save.lineno)),
                    Certainty.LIKELY,
                    (_moved(file, call, statement, save),),
                )


def _moved(file: PythonFile, call: ast.Call, statement: ast.stmt, save: ast.stmt) -> Fix:
    """The deletion after the save; none at all where the save takes the same name."""
    edits = Edits(file)
    edits.remove(statement)
    thing = deleted(file, call)
    written = [
        ast.unparse(given)
        for each in ast.walk(save)
        if isinstance(each, ast.Call)
        for given in each.args
    ]
    if thing is None or ast.unparse(thing) not in written:
        lines = file.lines[statement.lineno - 1 : statement.end_lineno]
        edits.after(save.end_lineno or save.lineno, *lines)
    return edits.fix() or Fix(FixKind.LINE, f"{ast.unparse(call)}  # after the save\n")


class _Events:
    """Saves and deletions in the order in which a function does them."""

    def __init__(self, repository: Repository) -> None:
        self._flow = flow_of(repository)
        saves = checkpoint_saves(repository)
        self._saving_calls = {each.call for each in saves}
        self._saving = {each.function for each in saves if each.function is not None}

    def deleting(self, deletion: Deletion) -> Iterator[tuple[PythonFile, ast.Call]]:
        """The deletion itself, and the calls of a function that does nothing but clean up."""
        if deletion.reach is None or deletion.reach.by_thread:
            return
        yield deletion.file, deletion.call
        function = deletion.function
        if function is not None and not self._saves(deletion.file, function):
            yield from self._flow.callers(Function(deletion.file, function))

    def save_after(self, file: PythonFile, call: ast.Call) -> tuple[ast.stmt, ast.stmt] | None:
        """The statement of a deletion, and the first one after it in its block that saves, when
        nothing in the block has saved before."""
        if self._flow.reach(file, call) is None:
            return None
        below: ast.AST = call
        for above in file.ancestors(call):
            if isinstance(above, ast.ExceptHandler):
                return None
            for field in ("body", "orelse", "finalbody"):
                block = getattr(above, field, None)
                if isinstance(block, list) and below in block:
                    index = block.index(below)
                    if any(self._saves(file, each) for each in block[:index]):
                        return None
                    for each in block[index + 1 :]:
                        if self._saves(file, each):
                            return block[index], each
            if isinstance(above, ast.FunctionDef | ast.For | ast.While):
                return None
            below = above
        return None

    def _saves(self, file: PythonFile, node: ast.AST) -> bool:
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                if each in self._saving_calls or last_name(each.func) in SAVING_CALLS:
                    return True
                if any(found.node in self._saving for found in self._flow.meant(file, each.func)):
                    return True
        return False
