"""A diagnosis: what was looked at, what was cut, and what went wrong on the way."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from instride.doctor.catalogue import CATALOGUE, About
from instride.doctor.examining import Diagnosis, examine
from instride.doctor.model import Certainty, Count, Finding, Place
from instride.doctor.repository import Budget, Repository, TimeIsUp
from instride.doctor.request import Request
from instride.doctor.rules import CHECKS, WITH_LOG
from instride.doctor.rules.intervals import costs_in
from instride.errors import EmptyLogError, NoRepositoryError, UnknownRuleError

RULE, LATER = "two-cleaners", "save-in-place"
"""In the order in which they are checked."""
FOUND = Finding(RULE, {}, (Place("train.py", 1, "x"),))
ABOUT_MACHINES = {rule.id for rule in CATALOGUE if rule.about is About.MACHINE}


def unknown(diagnosis: Diagnosis) -> list[str]:
    return [each.id for each in diagnosis.unknown]


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Lets checks that a test holds up go on at its end."""
    event = threading.Event()
    yield event
    event.set()


def test_a_check_that_takes_too_long_is_cut_and_what_it_found_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: threading.Event
) -> None:
    def slow(repository: Repository, request: Request) -> Iterator[Finding]:
        yield FOUND
        release.wait()

    monkeypatch.setitem(CHECKS, RULE, slow)
    diagnosis = examine(Request(repo=tmp_path, only=(RULE, LATER)), longest_s=0.2)
    assert [each.rule for each in diagnosis.findings] == [RULE]
    assert diagnosis.checked == ()
    (cut,) = diagnosis.unknown
    assert cut.id == "cut-short"
    assert cut.facts == {"rules": Count(2), "names": f"{RULE}, {LATER}"}


def test_a_check_that_never_stops_finding_is_cut_between_two_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(repository: Repository, request: Request) -> Iterator[Finding]:
        while True:
            yield FOUND

    monkeypatch.setitem(CHECKS, RULE, endless)
    diagnosis = examine(Request(repo=tmp_path, only=(RULE,)), longest_s=0.2)
    assert len(diagnosis.findings) == 1
    assert unknown(diagnosis) == ["cut-short"]


def test_a_rule_that_looks_at_file_after_file_stops_when_the_time_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").touch()
    stopped = threading.Event()

    def restless(repository: Repository, request: Request) -> Iterator[Finding]:
        yield FOUND
        try:
            while True:
                repository.python[0].nodes(ast.Call)
        finally:
            stopped.set()

    monkeypatch.setitem(CHECKS, RULE, restless)
    diagnosis = examine(Request(repo=tmp_path, only=(RULE, LATER)), longest_s=0.2)
    assert stopped.wait(60)
    assert [each.rule for each in diagnosis.findings] == [RULE]
    assert unknown(diagnosis) == ["cut-short"]


def test_rules_that_read_a_log_come_last_and_end_with_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    checks = {rule: _noting(asked, rule) for rule in CHECKS}
    monkeypatch.setattr("instride.doctor.examining.CHECKS", checks)
    examine(Request(repo=tmp_path, log="train.log", only=tuple(CHECKS)))
    assert set(asked[-len(WITH_LOG) :]) == WITH_LOG

    log = tmp_path / "train.log"
    log.write_text("".join(f"step {n} took 1.0 s\n" for n in range(100)))
    with pytest.raises(TimeIsUp):
        costs_in(str(log), Budget(0, deadline=0.0))


def _noting(asked: list[str], rule: str) -> Callable[[Repository, Request], Iterator[Finding]]:
    def check(repository: Repository, request: Request) -> Iterator[Finding]:
        asked.append(rule)
        return iter(())

    return check


@pytest.mark.parametrize(
    ("certainties", "is_ill"),
    [
        ((), False),
        ((Certainty.PERHAPS,), False),
        ((Certainty.PERHAPS, Certainty.LIKELY), True),
        ((Certainty.SURE,), True),
    ],
)
def test_what_is_only_perhaps_so_makes_nobody_ill(
    certainties: tuple[Certainty, ...], is_ill: bool
) -> None:
    findings = [Finding(RULE, {}, FOUND.evidence, certainty) for certainty in certainties]
    assert Diagnosis(Request(), findings, [], ()).is_ill is is_ill


def test_a_rule_that_fails_is_said_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(repository: Repository, request: Request) -> Iterator[Finding]:
        raise RecursionError("too deep")

    monkeypatch.setitem(CHECKS, RULE, failing)
    diagnosis = examine(Request(repo=tmp_path, only=(RULE, LATER)))
    (failed,) = diagnosis.unknown
    assert failed.facts == {"rule": RULE, "error": "RecursionError: too deep"}
    assert set(diagnosis.checked) == {RULE, LATER}


def test_errors_that_users_can_mend_are_raised(tmp_path: Path) -> None:
    (tmp_path / "train.log").touch()
    with pytest.raises(EmptyLogError):
        examine(Request(repo=tmp_path, log=str(tmp_path / "train.log"), only=("saves-too-often",)))


def test_rules_of_the_repository_are_not_checked_without_one() -> None:
    diagnosis = examine(Request(probe=False))
    assert set(diagnosis.checked) == ABOUT_MACHINES
    assert "no-repository" in unknown(diagnosis)


def test_the_machine_is_left_alone_if_only_the_repository_is_asked_for(tmp_path: Path) -> None:
    diagnosis = examine(Request(repo=tmp_path, only=(RULE,)))
    assert diagnosis.checked == (RULE,)
    assert diagnosis.findings == []
    assert diagnosis.unknown == []


def test_a_repository_that_names_no_directory_for_checkpoints_is_asked_for_one(
    tmp_path: Path,
) -> None:
    assert "no-checkpoints" in unknown(examine(Request(repo=tmp_path, probe=False)))


SAVER_LOOP = """\
import torch

import instride

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.AdamW(model.parameters())
saver = instride.Saver("checkpoints", model=model, optimizer=optimizer, keep=instride.Keep(last=3))
for step in range(saver.restore(), 1000):
    loss = model(torch.randn(32, 8)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if saver.due(step, every=500) or step == 999:
        saver.save(step, metric=loss.item())
    if saver.should_stop:
        break
saver.close()
"""


def test_a_loop_with_our_saver_names_its_directory_and_is_in_order(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SAVER_LOOP)
    diagnosis = examine(Request(repo=tmp_path, probe=False))
    assert diagnosis.request.checkpoints == (tmp_path / "checkpoints",)
    assert not {each.rule for each in diagnosis.findings} - ABOUT_MACHINES


def test_a_search_for_checkpoints_that_fails_is_said_and_the_rules_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(repository: Repository) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("instride.doctor.examining.destinations", failing)
    diagnosis = examine(Request(repo=tmp_path, only=(RULE,)))
    assert unknown(diagnosis) == ["rule-failed"]
    assert diagnosis.checked == (RULE,)


def test_directories_with_the_usual_names_are_there_before_all_saves_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: threading.Event
) -> None:
    def slow(repository: Repository) -> None:
        release.wait()

    monkeypatch.setattr("instride.doctor.examining.destinations", slow)
    (tmp_path / "train.py").write_text("out_dir = 'out'\n")
    diagnosis = examine(Request(repo=tmp_path, only=(RULE,)), longest_s=0.5)
    assert diagnosis.request.checkpoints == (tmp_path / "out",)
    assert unknown(diagnosis) == ["cut-short"]


def test_what_is_not_there_or_not_known_is_refused_before_anything_is_read(
    tmp_path: Path,
) -> None:
    with pytest.raises(NoRepositoryError):
        examine(Request(repo=tmp_path / "nowhere"))
    with pytest.raises(UnknownRuleError):
        examine(Request(repo=tmp_path, only=("save",)))
