"""How checkpoints are told apart: by the time of the file, or by a pattern that takes too much."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from instride.doctor.diffs import diff
from instride.doctor.model import Certainty, Finding, Fix, FixKind
from instride.doctor.repository import PythonFile, Repository, ScriptFile
from instride.doctor.request import Request
from instride.doctor.rules.editing import Edits
from instride.doctor.rules.flow import flow_of
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.saves import code
from instride.doctor.rules.started import CHECKPOINTS
from instride.doctor.rules.values import text_reaching, texts_in

FILE_TIME = re.compile(r"\b(getmtime|getctime|st_mtime\w*|st_ctime\w*)\b")
ORDERING = {"sorted", "max", "min"}
PATTERN_TEXT = re.compile(r"[*?]|^\.\w+$|[-_]$")
CHECKPOINT_LIST = re.compile(r"\w*(ckpt|checkpoint)s?(_(files|paths|list|dirs|names))?\d*")
RESUMED = re.compile(r"resume|checkpoint_path|ckpt_path|load_checkpoint|load_state|restore")
BY_TIME = re.compile(r"\bls\s+(?:-\w+\s+)*-(\w*t\w*)\b")
STEP_KEY = 'lambda path: int(re.findall(r"{prefix}(\\d+)", os.path.basename(path))[-1])'
WORDS = r"step|epoch|iter|iteration|ckpt|checkpoint"
STEP_PATTERN = re.compile(rf"(?:{WORDS})\w*(?:\\?[-_.])?\(?(?:\?P<\w+>)?(?:\\d|\[0-9\])\+\)?")
WORD_END = re.compile(r"\(|\\d|\[")
ABOUT_CHECKPOINTS = re.compile(
    r"ckpt|checkpoint|latest|last|resume|step|purge|prune", re.IGNORECASE
)
ENDED = re.compile(r"(\$|\\Z|\\b)\)?$")
LISTINGS = {"listdir", "iterdir", "scandir", "ls", "list_files", "walk"}
CHECKED = {"isfile", "exists", "is_file"}


def orders_by_mtime(repository: Repository, request: Request) -> Iterator[Finding]:
    """Checkpoints ordered by the time of their files."""
    flow = flow_of(repository)
    for file in repository.python_mentioning("getmtime", "getctime", "st_mtime", "st_ctime"):
        if not flow.is_of_interest(file):
            continue
        for call in file.nodes(ast.Call):
            things = _ordered(file, call)
            certainty = _are_checkpoints(file, call, things) if things is not None else None
            if things is not None and certainty is not None:
                yield Finding(
                    "orders-by-mtime",
                    {"code": code(call)},
                    (file.place(call.lineno),),
                    certainty,
                    (_by_step(file, call, things),),
                )
    for script in repository.scripts:
        if not script.aside:
            yield from _listed_by_time(script)


def _ordered(file: PythonFile, call: ast.Call) -> ast.expr | None:
    """What a call orders by the time of files."""
    key = _key(call)
    if key is None or not FILE_TIME.search(text_reaching(file, key)):
        return None
    if isinstance(call.func, ast.Name) and call.func.id in ORDERING and call.args:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "sort":
        return call.func.value
    return None


def _key(call: ast.Call) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == "key"), None)


def _are_checkpoints(file: PythonFile, call: ast.Call, things: ast.expr) -> Certainty | None:
    """How sure it is that they are: by their names, or only by what is done with them."""
    texts = [each for each in texts_in(file, things) if PATTERN_TEXT.search(each)]
    if CHECKPOINT_LIST.fullmatch(last_name(things).lower()) or any(map(CHECKPOINTS.search, texts)):
        return Certainty.LIKELY
    return Certainty.PERHAPS if _is_resumed(file, call) else None


def _is_resumed(file: PythonFile, call: ast.Call) -> bool:
    """Whether what follows at once takes the first or the last of them to resume from."""
    below: ast.AST = call
    for above in file.ancestors(call):
        block = getattr(above, "body", None)
        for statements in (block, getattr(above, "orelse", None)):
            if isinstance(statements, list) and below in statements:
                index = statements.index(below)
                after = statements[index : index + 4]
                return any(RESUMED.search(ast.unparse(each)) for each in after)
        below = above
    return False


def _by_step(file: PythonFile, call: ast.Call, things: ast.expr) -> Fix:
    prefix = ""
    for text in texts_in(file, things):
        head = text.rpartition("/")[2].partition("*")
        if head[1] and CHECKPOINTS.search(head[0]):
            prefix = re.escape(head[0])
    key = STEP_KEY.replace("{prefix}", prefix.replace("\\-", "-"))
    node = _key(call)
    if not prefix or node is None:
        return Fix(FixKind.LINE, f"key={key}\n")
    edits = Edits(file)
    edits.replace(node, key)
    edits.need("os", "re")
    return edits.fix() or Fix(FixKind.LINE, f"key={key}\n")


def _listed_by_time(script: ScriptFile) -> Iterator[Finding]:
    for command in script.commands:
        found = BY_TIME.search(command.text)
        if found is None or not _lists_checkpoints(command.text[found.end() :]):
            continue
        line = script.lines[command.line - 1]
        letters = found.group(1)
        by_name = letters.replace("t", "v")
        by_name = by_name.replace("r", "") if "r" in letters else by_name + "r"
        changed = line.replace(f"-{letters}", f"-{by_name}", 1)
        fix = diff(script, {command.line: [changed]}) if changed != line else None
        yield Finding(
            "orders-by-mtime",
            {"code": found.group()},
            (script.place(command.line),),
            Certainty.LIKELY,
            (fix or Fix(FixKind.LINE, f"ls -{by_name}\n"),),
        )


def _lists_checkpoints(arguments: str) -> bool:
    """Whether the names that `ls` is given are those of checkpoints, not only their folder's."""
    names = [word.rpartition("/")[2] for word in arguments.partition("|")[0].split()]
    return any(map(CHECKPOINTS.search, names))


def unanchored_step_pattern(repository: Repository, request: Request) -> Iterator[Finding]:
    """Patterns that take leftovers and copies for checkpoints."""
    flow = flow_of(repository)
    for file in repository.python_mentioning(*(f"re.{each}" for each in ("search", "match"))):
        if not flow.is_of_interest(file):
            continue
        for call in file.calls("re.search", "re.match"):
            example = _taken_too(file, call)
            if example is not None and _is_of_listing(file, call):
                yield Finding(
                    "unanchored-step-pattern",
                    {"pattern": _pattern(file, call), "example": example},
                    (file.place(call.lineno),),
                    Certainty.LIKELY,
                    (_whole_name(repository, file, call),),
                )


def _pattern(file: PythonFile, call: ast.Call) -> str:
    texts = texts_in(file, call.args[0]) if len(call.args) > 1 else []
    return texts[0] if len(texts) == 1 else ""


def _taken_too(file: PythonFile, call: ast.Call) -> str | None:
    """A name that a pattern matches and should not; the pattern ends in a number or a suffix."""
    pattern = _pattern(file, call)
    step = STEP_PATTERN.search(pattern)
    if step is None or ENDED.search(pattern) or len(pattern) > 80:
        return None
    rest = pattern[step.end() :]
    if not re.fullmatch(r"(\\\.\w+)?", rest):
        return None
    word = WORD_END.split(step.group())[0].replace("\\", "")
    example = f"{word}100{rest.replace(chr(92), '')}.tmp"
    try:
        return example if re.search(pattern, example) else None
    except re.error:
        return None


def _is_of_listing(file: PythonFile, call: ast.Call) -> bool:
    """Whether the names come from a folder as they are, and nothing else looks at their end."""
    function = file.function_of(call)
    if function is None or not ABOUT_CHECKPOINTS.search(function.name):
        return False
    names = _called_in(function)
    if not names & LISTINGS or "endswith" in names or ".suffix" in ast.unparse(function):
        return False
    loops = file.loops_of(call)
    return not loops or not _called_in(loops[0]) & CHECKED


def _called_in(node: ast.AST) -> set[str]:
    return {last_name(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}


def _whole_name(repository: Repository, file: PythonFile, call: ast.Call) -> Fix:
    """`re.fullmatch`, with the suffix that names are seen to be given."""
    literal, name = call.args[0], ast.unparse(call.func)
    instead = Fix(FixKind.LINE, f"re.fullmatch({ast.unparse(literal)}, name)\n")
    pattern = _pattern(file, call)
    step = STEP_PATTERN.search(pattern)
    if step is None or name not in {"re.search", "re.match"}:
        return instead
    edits = Edits(file)
    if step.end() == len(pattern):
        suffix = _suffix(repository, WORD_END.split(step.group())[0])
        if suffix is None or not isinstance(literal, ast.Constant):
            return instead
        text = ast.get_source_segment(file.text, literal) or ""
        edits.replace(literal, f"{text[:-1]}{re.escape(suffix)}{text[-1:]}")
    edits.replace(call.func, "re.fullmatch")
    return edits.fix() or instead


def _suffix(repository: Repository, word: str) -> str | None:
    """What follows the number in names that the repository makes: `f"step-{step}.pt"`."""
    for file in repository.python_mentioning(f"{word}{{"):
        for text in file.nodes(ast.JoinedStr):
            parts: list[ast.expr | None] = [*text.values, None]
            for before, value, after in zip(parts, parts[1:], parts[2:], strict=False):
                match before, value:
                    case ast.Constant(str(head)), ast.FormattedValue() if head.endswith(word):
                        return str(after.value) if isinstance(after, ast.Constant) else ""
    return None
