"""Data loaders against the machine: workers, their start at every epoch, pinned memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from instride.doctor.diffs import diff
from instride.doctor.model import Certainty, Count, Finding, Fix, FixKind
from instride.doctor.repository import PythonFile, Repository
from instride.doctor.request import Request
from instride.doctor.rules.habits import files_on_a_device
from instride.doctor.rules.loaders import Loader, loaders
from instride.system.cores import has_accelerator, usable_cores

DECODES = {"torchvision", "PIL", "cv2", "torchaudio", "librosa", "albumentations", "decord"}
"""Libraries that read and transform a sample: work that is worth workers."""
MOST_ADVISED = 8


def loader_workers(repository: Repository, request: Request) -> Iterator[Finding]:
    cores = usable_cores()
    trains_on_device = bool(files_on_a_device(repository))
    for loader in loaders(repository):
        workers = loader.num_workers
        if workers is None:
            continue
        if workers > cores:
            # Without an accelerator, this is hardly the machine that the number was set for.
            certainty = Certainty.LIKELY if has_accelerator() else Certainty.PERHAPS
            yield _workers(loader, workers, cores, certainty)
        elif workers == 0 and trains_on_device and _needs_workers(loader) and cores > 1:
            decodes = DECODES & {name.split(".")[0] for name in loader.file.imports.values()}
            certainty = Certainty.LIKELY if decodes else Certainty.PERHAPS
            yield _workers(loader, workers, cores, certainty)


def _needs_workers(loader: Loader) -> bool:
    return loader.is_for_training and not loader.is_in_memory


def _workers(loader: Loader, workers: int, cores: int, certainty: Certainty) -> Finding:
    best = max(1, min(cores - 1, MOST_ADVISED))
    return _finding(
        "loader-workers",
        loader,
        certainty,
        _with_setting(loader, "num_workers", str(best)),
        workers=Count(workers),
        cores=Count(cores),
    )


def loader_restarts_workers(repository: Repository, request: Request) -> Iterator[Finding]:
    for loader in loaders(repository):
        workers = loader.num_workers
        if loader.is_made_anew or loader.is_endless or loader.has("persistent_workers"):
            continue
        if workers and loader.starts_again:
            yield _finding(
                "loader-restarts-workers",
                loader,
                Certainty.LIKELY,
                _with_setting(loader, "persistent_workers", _where_there_are_workers(loader)),
                workers=Count(workers),
            )


def _where_there_are_workers(loader: Loader) -> str:
    """PyTorch refuses persistent workers where there are none."""
    workers = loader.setting("num_workers")
    if workers is None or isinstance(workers, ast.Constant):
        return "True"
    return f"{ast.unparse(workers)} > 0"


def loader_not_pinned(repository: Repository, request: Request) -> Iterator[Finding]:
    for loader in loaders(repository):
        if loader.has("pin_memory") or loader.file.mentions("pin_memory()", "accelerat", "fabric"):
            continue
        copy = _copy_that_does_not_wait(loader.file)
        if copy is not None:
            yield _finding(
                "loader-not-pinned",
                loader,
                Certainty.LIKELY,
                _with_setting(loader, "pin_memory", "True"),
                copy,
                copied=f"{loader.file.path}:{copy.lineno}",
            )


def _copy_that_does_not_wait(file: PythonFile) -> ast.Call | None:
    """`batch.to(device, non_blocking=True)` in a loop."""
    for call in file.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"to", "cuda"}:
            for keyword in call.keywords:
                match keyword:
                    case ast.keyword("non_blocking", ast.Constant(True)) if file.loops_of(call):
                        return call
    return None


def _finding(
    rule: str,
    loader: Loader,
    certainty: Certainty,
    fix: Fix,
    also: ast.Call | None = None,
    **facts: Count | str,
) -> Finding:
    file, line = loader.file, loader.call.lineno
    places = [file.place(line)] + ([file.place(also.lineno)] if also is not None else [])
    return Finding(rule, dict(facts), tuple(places), certainty, fixes=(fix,))


def _with_setting(loader: Loader, name: str, value: str) -> Fix:
    """A diff that gives a setting to the loader; the setting alone where that is not simple."""
    file, call = loader.file, loader.call
    given = loader.setting(name)
    fix = None
    if given is None:
        fix = _inserted(file, call, f"{name}={value}")
    elif isinstance(given, ast.Constant) and given.end_col_offset is not None:
        line = file.lines[given.lineno - 1].encode()
        changed = line[: given.col_offset] + value.encode() + line[given.end_col_offset :]
        fix = diff(file, {given.lineno: [changed.decode()]})
    return fix or Fix(FixKind.LINE, f"DataLoader(..., {name}={value})")


def _inserted(file: PythonFile, call: ast.Call, argument: str) -> Fix | None:
    """The argument before the closing bracket, on a line of its own where those before it are."""
    if call.end_lineno is None or call.end_col_offset is None:
        return None
    number = call.end_lineno
    line = file.lines[number - 1].encode()
    before = line[: call.end_col_offset - 1].decode()
    after = line[call.end_col_offset - 1 :].decode()
    if before.strip():
        joint = "" if before.rstrip().endswith((",", "(")) else ", "
        return diff(file, {number: [f"{before}{joint}{argument}{after}"]})
    last = number - 1
    while last > call.lineno and not file.lines[last - 1].strip():
        last -= 1
    text = file.lines[last - 1]
    if not text.rstrip().endswith(","):
        return None
    indent = text[: len(text) - len(text.lstrip())]
    return diff(file, {last: [text, f"{indent}{argument},"]})
