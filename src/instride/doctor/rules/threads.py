"""Checkpoints written by threads: of a state that training changes, or that are cut off."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from instride.doctor.model import Certainty, Finding, Fix, FixKind
from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.python import FunctionNode
from instride.doctor.request import Request
from instride.doctor.rules import background_fixes
from instride.doctor.rules.bindings import handed_arguments, handed_function
from instride.doctor.rules.calls import Function
from instride.doctor.rules.editing import Edits
from instride.doctor.rules.flow import Flow, flow_of
from instride.doctor.rules.liveness import Live, Liveness
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.remembering import once
from instride.doctor.rules.saves import checkpoint_saves, code
from instride.doctor.rules.values import parameters

THREADS = {"Thread", "submit", "run_in_executor", "Timer", "to_thread", "apply_async"}


class HandOver(msgspec.Struct, frozen=True, eq=False):
    """A call that gives the saving of a checkpoint to a thread."""

    file: PythonFile
    call: ast.Call
    function: Function | None
    """What the thread calls; None if that is `torch.save` itself or a lambda."""


@once
def hand_overs(repository: Repository) -> list[HandOver]:
    flow = flow_of(repository)
    saves = checkpoint_saves(repository)
    writing = {save.function for save in saves if not save.is_handed_over}
    direct = {save.call for save in saves if save.is_handed_over}
    found = []
    for file in repository.python_mentioning(*THREADS):
        if not flow.is_of_interest(file):
            continue
        for name in sorted(THREADS):
            for call in flow.calls_in(file, name):
                if call in direct or any(each in direct for each in ast.walk(call)):
                    found.append(HandOver(file, call, None))
                else:
                    functions = _functions(flow, file, call)
                    found += [
                        HandOver(file, call, each)
                        for each in functions
                        if _writes(flow, each, writing, 0)
                    ][:1]
    return found


def _functions(flow: Flow, file: PythonFile, call: ast.Call) -> list[Function]:
    function = handed_function(call)
    return flow.meant(file, function) if function is not None else []


def _writes(flow: Flow, function: Function, writing: set[FunctionNode | None], depth: int) -> bool:
    """Whether a function writes a checkpoint, itself or in what it calls."""
    if function.node in writing:
        return True
    return depth < 2 and any(
        _writes(flow, each, writing, depth + 1)
        for call in ast.walk(function.node)
        if isinstance(call, ast.Call)
        for each in flow.meant(function.file, call.func)
    )


def shallow_copy_to_thread(repository: Repository, request: Request) -> Iterator[Finding]:
    """A thread writes tensors that training goes on changing."""
    flow = flow_of(repository)
    for hand_over in hand_overs(repository):
        if _is_waited_for(hand_over):
            continue
        for file, given in _given(flow, hand_over):
            live = Liveness(flow).of(file, given, 0)
            if live is not None:
                yield _shared(hand_over, live)
                break


def _shared(hand_over: HandOver, live: Live) -> Finding:
    return Finding(
        "shallow-copy-to-thread",
        {"state": code(live.state)},
        (live.file.place(live.node.lineno), hand_over.file.place(hand_over.call.lineno)),
        Certainty.LIKELY,
        (background_fixes.copied(live.file, live.node, live.state),),
    )


def _given(flow: Flow, hand_over: HandOver) -> Iterator[tuple[PythonFile, ast.expr]]:
    """What a thread works with: arguments, what is put into its queue, what it closes over."""
    file, call, function = hand_over.file, hand_over.call, hand_over.function
    for given in handed_arguments(call):
        yield file, given
    if function is None:
        yield from ((file, given) for given in _given_in_lambdas(call))
        return
    for other, put in flow.handed_over(function):
        if put is not call and last_name(put.func) == "put":
            for given in put.args:
                yield other, given
    if function.file.function_of(function.node) is not None:
        own = set(parameters(function.node))
        for name in ast.walk(function.node):
            if isinstance(name, ast.Name) and name.id not in own:
                yield function.file, name


def _variable(hand_over: HandOver) -> str:
    """What the thread is called in the code."""
    parent = hand_over.file.parent(hand_over.call)
    if isinstance(parent, ast.Assign):
        return last_name(parent.targets[0])
    return ""


def _joins(file: PythonFile) -> Iterator[ast.Call]:
    """Calls that wait for a thread or a queue; `str.join` takes an argument, these take seconds."""
    for call in file.nodes(ast.Call):
        match call:
            case ast.Call(ast.Attribute(ast.Constant(), _)):
                continue
            case ast.Call(ast.Attribute(_, "join" | "shutdown"), [] | [ast.Constant()]):
                yield call


def _is_waited_for(hand_over: HandOver) -> bool:
    """Whether the same block goes on to wait for the thread, so that nothing can change."""
    file, name = hand_over.file, _variable(hand_over)
    statement = file.parent(hand_over.call)
    block = getattr(file.parent(statement), "body", []) if statement is not None else []
    return any(
        isinstance(call.func, ast.Attribute)
        and last_name(call.func.value) == name
        and call.lineno > hand_over.call.lineno
        and file.parent(call) in block
        for call in _joins(file)
    )


def _given_in_lambdas(call: ast.Call) -> Iterator[ast.expr]:
    for each in ast.walk(call):
        if isinstance(each, ast.Lambda) and isinstance(each.body, ast.Call):
            yield from each.body.args


def daemon_thread_saves(repository: Repository, request: Request) -> Iterator[Finding]:
    """Threads that write checkpoints and are stopped where they are when the program ends."""
    for hand_over in hand_overs(repository):
        if last_name(hand_over.call.func) != "Thread":
            continue
        daemon = _daemon(hand_over)
        if daemon is not None and not _is_joined_later(hand_over):
            yield Finding(
                "daemon-thread-saves",
                {"thread": _variable(hand_over) or "Thread(...)"},
                (hand_over.file.place(daemon.lineno),),
                Certainty.LIKELY,
                (_not_daemon(hand_over, daemon),),
            )


def _daemon(hand_over: HandOver) -> ast.expr | None:
    """Where the thread is made a daemon."""
    for keyword in hand_over.call.keywords:
        if keyword.arg == "daemon" and _is_true(keyword.value):
            return keyword.value
    name = _variable(hand_over)
    for assign in hand_over.file.nodes(ast.Assign):
        match assign.targets[0]:
            case ast.Attribute(thread, "daemon") if name and last_name(thread) == name:
                return assign.value if _is_true(assign.value) else None
    return None


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_joined_later(hand_over: HandOver) -> bool:
    """Whether something waits for a thread after the last save, and not only before the next."""
    file = hand_over.file
    own = file.function_of(hand_over.call)
    return any(
        call.lineno > hand_over.call.lineno or file.function_of(call) is not own
        for call in _joins(file)
    )


def _not_daemon(hand_over: HandOver, daemon: ast.expr) -> Fix:
    function = hand_over.function
    endless = function is not None and any(
        isinstance(each, ast.While) for each in ast.walk(function.node)
    )
    if endless:
        name = _variable(hand_over) or "thread"
        return Fix(FixKind.LINE, f"{name}.join()  # after the last save\n")
    edits = Edits(hand_over.file)
    edits.replace(daemon, "False")
    return edits.fix() or Fix(FixKind.LINE, "daemon=False\n")
