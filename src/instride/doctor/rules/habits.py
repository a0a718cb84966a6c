"""Habits that make every step wait: garbage collected by hand, emptied caches, read values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from textwrap import dedent, indent

from instride.doctor.diffs import diff
from instride.doctor.model import Certainty, Count, Finding, Fix, FixKind
from instride.doctor.repository import PythonFile, Repository
from instride.doctor.request import Request
from instride.doctor.rules.every_step import Ran, every_step
from instride.doctor.rules.garbage import Cleaning, cleanings, empties_after_save
from instride.doctor.rules.loops import StepLoop, last_name, nodes_in, source, step_loops
from instride.doctor.rules.remembering import once

DEVICES = ("cuda", "mps", "xpu", "npu", "accelerator")
SYNCHRONIZE = {f"torch.{device}.synchronize" for device in DEVICES}
ON_A_DEVICE = ("cuda", "to(device", "accelerator", "fabric", "self.device", "lightning")
CLOCKS = {"time", "perf_counter", "perf_counter_ns", "monotonic", "elapsed_time", "record"}
NEAR = 5
"""Statements between a clock and the wait that makes its reading right."""
READS = {"item", "tolist"}
OF_THE_STEP = re.compile(
    r"\w*(loss|norm|acc\d*|accuracy|correct|logits?|preds?|outputs?|rewards?|ratio|entropy)\w*"
    r"|(\w+_)?kl",
    re.IGNORECASE,
)
"""Names of what a step computes on the device."""
BLOCKS = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith
KEEPS = {"update", "add", "add_"}
"""Methods that take a tensor as well as a number."""
LISTS = ast.List | ast.ListComp | ast.Tuple
"""What is kept in one may go to NumPy later, which takes no tensors of a device."""


@once
def files_on_a_device(repository: Repository) -> frozenset[PythonFile]:
    """The files that train on a device, which a step need not wait for."""
    files = {loop.file for loop in step_loops(repository)}
    return frozenset(file for file in files if file.mentions(*ON_A_DEVICE))


def collects_garbage_often(repository: Repository, request: Request) -> Iterator[Finding]:
    for cleaning in cleanings(repository):
        if cleaning.is_often:
            file = cleaning.file
            calls = sorted([*cleaning.collects, *cleaning.empties], key=lambda call: call.lineno)
            yield Finding(
                "collects-garbage-often",
                {"calls": Count(cleaning.times)},
                tuple(file.place(line) for line in dict.fromkeys(call.lineno for call in calls)),
                fixes=(_fewer(cleaning),),
            )


def _fewer(cleaning: Cleaning) -> Fix:
    """Collect once after a save, and not at all in every step."""
    file = cleaning.file
    keep = [] if cleaning.in_every_step else cleaning.collects[:1]
    changed: dict[int, list[str]] = {}
    for statement in cleaning.block:
        mine = [call for call in cleaning.collects if call in set(nodes_in([statement]))]
        if not mine:
            continue
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        kept = any(call in keep for call in mine)
        for line in lines:
            changed.setdefault(line, [])
        if kept:
            changed[statement.lineno] = [f"{' ' * statement.col_offset}gc.collect()"]
    return diff(file, changed) or Fix(FixKind.LINE, "gc.collect()  # once")


def empties_cache(repository: Repository, request: Request) -> Iterator[Finding]:
    for cleaning in cleanings(repository):
        if cleaning.is_often or not cleaning.empties:
            continue
        file, call = cleaning.file, cleaning.empties[0]
        if not (cleaning.in_every_step or empties_after_save(repository, cleaning)):
            continue
        yield Finding(
            "empties-cache",
            {"code": source(call)},
            (file.place(call.lineno),),
            Certainty.SURE if cleaning.in_every_step else Certainty.LIKELY,
            fixes=(_removed(file, call),),
        )


def synchronizes_every_step(repository: Repository, request: Request) -> Iterator[Finding]:
    for loop in step_loops(repository):
        for ran in every_step(loop):
            if _synchronizes(loop.file, ran.call) and not _is_timed(ran):
                yield Finding(
                    "synchronizes-every-step",
                    {"code": source(ran.call)},
                    (loop.file.place(ran.call.lineno),),
                    Certainty.LIKELY,
                    fixes=(_removed(loop.file, ran.call),),
                )


def _synchronizes(file: PythonFile, call: ast.Call) -> bool:
    if file.name_of(call.func) in SYNCHRONIZE:
        return True
    # `synchronize = torch.cuda.synchronize if on_gpu else (lambda: None)`
    return isinstance(call.func, ast.Name) and any(
        any(isinstance(target, ast.Name) and target.id == call.func.id for target in each.targets)
        and any(file.name_of(node) in SYNCHRONIZE for node in nodes_in([each.value]))
        for each in file.nodes(ast.Assign)
    )


def _is_timed(ran: Ran) -> bool:
    """Whether a clock is read beside it: without the wait it would show the launches only."""
    position = next(i for i, each in enumerate(ran.block) if each is ran.statement)
    beside = ran.block[max(0, position - NEAR) : position + NEAR + 1]
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in CLOCKS for node in nodes_in(beside)
    )


def waits_for_values_every_step(repository: Repository, request: Request) -> Iterator[Finding]:
    on_a_device = files_on_a_device(repository)
    for loop in step_loops(repository):
        if loop.file not in on_a_device:
            continue
        every = list(every_step(loop))
        # A loop that waits on purpose, to be timed, loses nothing more by reading a value.
        if any(_synchronizes(loop.file, ran.call) for ran in every):
            continue
        for ran in every:
            if _reads_the_step(loop.file, ran.call):
                yield Finding(
                    "waits-for-values-every-step",
                    {"code": source(ran.call)},
                    (loop.file.place(ran.call.lineno),),
                    Certainty.LIKELY,
                    fixes=(_kept_on_device(loop, ran),),
                )


def _reads_the_step(file: PythonFile, call: ast.Call) -> bool:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in READS or call.args:
        return False
    read = [func.value]
    for above in file.ancestors(call):
        if isinstance(above, ast.DictComp | ast.ListComp):  # `[value.item() for value in losses]`
            read += [each.iter for each in above.generators]
        elif isinstance(above, ast.stmt):
            break
    return any(
        isinstance(node, ast.Name | ast.Attribute) and OF_THE_STEP.fullmatch(last_name(node))
        for node in nodes_in(read)
    )


def _kept_on_device(loop: StepLoop, ran: Ran) -> Fix:
    """A tensor where one is as good as a number; else a line that reads it now and then."""
    file, call = loop.file, ran.call
    func = call.func
    assert isinstance(func, ast.Attribute)
    line = file.lines[call.lineno - 1]
    reading = f".{func.attr}()"
    if _takes_tensors(ran) and line.count(reading) == 1:
        fix = diff(file, {call.lineno: [line.replace(reading, ".detach()")]})
        if fix is not None:
            return fix
    return Fix(FixKind.LINE, f"if step % 50 == 0:\n{_indented(file, ran)}")


def _indented(file: PythonFile, ran: Ran) -> str:
    """The statement that reads a value, to stand under a condition; the reading where it is more
    than a statement."""
    statement = ran.statement
    text = source(ran.call)
    if not isinstance(statement, BLOCKS):
        lines = file.lines[statement.lineno - 1 : statement.end_lineno]
        text = dedent("\n".join(lines))
    return indent(text, "    ")


def _takes_tensors(ran: Ran) -> bool:
    statement = ran.statement
    if isinstance(statement, ast.AugAssign):
        return not isinstance(statement.value, LISTS)
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and last_name(statement.value.func) in KEEPS
    )


def _removed(file: PythonFile, call: ast.Call) -> Fix:
    """A diff without the statement that a call is; its text, commented out, where it is more."""
    parent = file.parent(call)
    if isinstance(parent, ast.Expr) and parent.lineno == parent.end_lineno:
        line = file.lines[parent.lineno - 1]
        if line.split("#")[0].strip() == source(call):
            without = diff(file, {parent.lineno: []}) or diff(
                file, {parent.lineno: [f"{' ' * parent.col_offset}pass"]}
            )
            if without is not None:
                return without
    return Fix(FixKind.LINE, f"# {file.lines[call.lineno - 1].strip()}")
