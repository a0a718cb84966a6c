"""A diagnosis: what was looked at, what was cut, and what went wrong on the way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from instride.doctor.catalogue import CATALOGUE, About
from instride.doctor.examining import Diagnosis, examine
from instride.doctor.model import Count, Finding, Place
from instride.doctor.repository import Repository
from instride.doctor.request import Request
from instride.doctor.rules import CHECKS
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


def test_what_is_not_there_or_not_known_is_refused_before_anything_is_read(
    tmp_path: Path,
) -> None:
    with pytest.raises(NoRepositoryError):
        examine(Request(repo=tmp_path / "nowhere"))
    with pytest.raises(UnknownRuleError):
        examine(Request(repo=tmp_path, only=("save",)))
