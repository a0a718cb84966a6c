"""From a request to a diagnosis, within ten seconds: the one entry that commands call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from instride.doctor.catalogue import CATALOGUE, RULES, About, by_cost
from instride.doctor.checkpoint_paths import checkpoint_paths
from instride.doctor.joining import few_doubtful, joined
from instride.doctor.machine import examine_machine
from instride.doctor.model import Certainty, Count, Fact, Finding, Unknown
from instride.doctor.printable import printable_finding, printable_unknown
from instride.doctor.repository import (
    Budget,
    Repository,
    TimeIsUp,
    Why,
    read_repository,
    uncollected,
)
from instride.doctor.request import Request
from instride.doctor.rules import CHECKS, WITH_LOG
from instride.doctor.rules.destinations import destinations
from instride.doctor.silence import Settings, check_rules, is_silenced, read_settings
from instride.errors import InstrideError, NoRepositoryError
from instride.reasons import Reason

LONGEST_S = 8.5
"""Of the ten that were promised; the answer has to be printed, too."""
MACHINE_S = 3.0
"""Of those, for the machine: it is worth a look even beside a very large repository."""
STACK_BYTES = 32 << 20
"""Deeply nested code is parsed by recursion, and threads have small stacks on some systems."""
LONGEST_PATH = 60
"""Of a file that was not read; an example is all that it is."""


class Diagnosis(msgspec.Struct, frozen=True):
    request: Request
    """With the checkpoint directories that were looked at."""
    findings: list[Finding]
    """Worst first."""
    unknown: list[Unknown]
    checked: tuple[str, ...]
    """Ids of the rules that were gone through, whatever came out."""
    ignored: tuple[str, ...] = ()
    """Ids of the rules that the repository's settings silence."""
    num_files: int = 0
    """So many files of the repository were read."""

    @property
    def is_ill(self) -> bool:
        """Whether anything is more than worth a look: that alone must not stop a pipeline."""
        return any(each.certainty is not Certainty.PERHAPS for each in self.findings)


def examine(request: Request, longest_s: float = LONGEST_S) -> Diagnosis:
    """Look at a repository and at the machine; what takes too long is cut, and said so."""
    deadline = time.monotonic() + longest_s
    check_rules(request.only)
    settings = _settings(request.repo)
    wanted = [
        rule.id
        for rule in CATALOGUE
        if (rule.id in request.only if request.only else rule.id not in settings.ignore)
    ]
    visit = _Visit(request, settings, wanted)
    has_machine = any(RULES[rule].about is About.MACHINE for rule in wanted)
    visit.look(visit.see_repository, longest_s - MACHINE_S * has_machine)
    visit.look(visit.see_machine, deadline - time.monotonic())
    return visit.diagnosis()


def _settings(repo: Path | None) -> Settings:
    if repo is None:
        return Settings()
    try:
        next(repo.iterdir(), None)
        return read_settings(repo)
    except OSError as error:
        raise NoRepositoryError(str(repo), Reason.of(error)) from error


class _Visit:
    """What has been seen so far; a part that takes too long leaves behind what it had."""

    def __init__(self, request: Request, settings: Settings, wanted: Sequence[str]) -> None:
        self._request = request
        self._settings = settings
        self._wanted = wanted
        self._repository = Repository(request.repo or Path(), [], [], [], [])
        self._findings: list[Finding] = []
        self._unknown: list[Unknown] = []
        self._checked: list[str] = []

    def look(self, part: Callable[[float], None], seconds: float) -> None:
        """Do a part of the visit, and leave it where it is when its time is over."""
        deadline = time.monotonic() + seconds
        failures: list[BaseException] = []

        def work() -> None:
            try:
                part(deadline)
            except BaseException as error:  # raised again by the thread that waits for this one
                failures.append(error)

        before = threading.stack_size(STACK_BYTES)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        threading.stack_size(before)
        thread.join(seconds)
        if failures:
            raise failures[0]

    @uncollected()
    def see_repository(self, deadline: float) -> None:
        repo = self._request.repo
        try:
            if repo is not None:
                self._repository = read_repository(repo, self._settings.exclude, deadline)
                if not self._request.checkpoints:
                    with self._guarded("checkpoints"):
                        self._find_checkpoints()
            else:
                self._repository.budget = Budget(0, deadline)
            # A log can be larger than any repository: what takes one comes last.
            for rule in sorted(self._applicable(About.REPOSITORY), key=WITH_LOG.__contains__):
                self._check(rule)
        except TimeIsUp:
            return

    def _find_checkpoints(self) -> None:
        """First by names, so that there is something if the time is up before all is read."""
        found = checkpoint_paths(self._repository)
        self._request = msgspec.structs.replace(self._request, checkpoints=found)
        found = checkpoint_paths(self._repository, destinations(self._repository))
        self._request = msgspec.structs.replace(self._request, checkpoints=found)

    def see_machine(self, deadline: float) -> None:
        rules = self._applicable(About.MACHINE)
        if rules:
            request = msgspec.structs.replace(self._request, only=tuple(rules))
            findings, unknown = examine_machine(request, deadline - time.monotonic())
            self._findings += [each for each in findings if each.rule in rules]
            self._unknown += unknown
            self._checked += rules

    def _applicable(self, about: About) -> list[str]:
        """The rules that are wanted and have something to look at."""
        if about is About.REPOSITORY and self._request.repo is None and self._request.log is None:
            return []
        return [rule for rule in self._wanted if RULES[rule].about is about]

    def _check(self, rule: str) -> None:
        """Go through one rule."""
        with self._guarded(rule):
            for finding in CHECKS[rule](self._repository, self._request):
                self._findings.append(finding)
                self._repository.budget.check_time()
        self._checked.append(rule)

    @contextmanager
    def _guarded(self, rule: str) -> Iterator[None]:
        """What goes wrong in one rule is said, and costs the others nothing."""
        try:
            yield
        except (InstrideError, TimeIsUp):
            raise
        except Exception as error:
            facts: dict[str, Fact] = {"rule": rule, "error": f"{type(error).__name__}: {error}"}
            self._unknown.append(Unknown("rule-failed", facts))

    def diagnosis(self) -> Diagnosis:
        """What was seen until now; a part that still goes on may add what it likes to its own."""
        repository, checked = self._repository, tuple(self._checked)
        lines_of = _Lines(repository)
        findings = [
            printable_finding(each)
            for each in tuple(self._findings)
            if not is_silenced(each, lines_of)
        ]
        unknown = [*self._unknown, *self._gaps(checked), *_skipped(repository)]
        return Diagnosis(
            request=self._request,
            findings=by_cost(few_doubtful(joined(findings))),
            unknown=[printable_unknown(each) for each in unknown],
            checked=checked,
            ignored=() if self._request.only else self._settings.ignore,
            num_files=len(lines_of),
        )

    def _gaps(self, checked: Sequence[str]) -> Iterator[Unknown]:
        """What could have been asked, and which rules were cut."""
        if self._request.repo is None and not self._request.only:
            yield Unknown("no-repository")
        elif not self._request.checkpoints and self._applicable(About.MACHINE):
            yield Unknown("no-checkpoints")
        cut = [rule for about in About for rule in self._applicable(about) if rule not in checked]
        if cut:
            yield Unknown("cut-short", {"rules": Count(len(cut)), "names": ", ".join(cut)})


class _Lines(Mapping[str, Sequence[str]]):
    """The lines of the files of a repository, by path; split only where something was found."""

    def __init__(self, repository: Repository) -> None:
        files = (*repository.python, *repository.configs, *repository.scripts)
        self._files = {file.path: file for file in files}

    def __getitem__(self, path: str) -> Sequence[str]:
        return self._files[path].lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _skipped(repository: Repository) -> Iterator[Unknown]:
    """Files that were not read, by reason, each with one of them."""
    reasons: dict[Why, list[str]] = {}
    for each in repository.skipped:
        reasons.setdefault(each.why, []).append(each.path)
    for why, paths in reasons.items():
        yield Unknown(f"skipped-{why}", {"files": Count(len(paths)), "path": _end(paths[0])})


def _end(path: str) -> str:
    """A path, or the end of a very long one."""
    return path if len(path) <= LONGEST_PATH else f"...{path[3 - LONGEST_PATH :]}"
