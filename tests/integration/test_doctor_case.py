"""The case: a repository in which six things are wrong gets six findings, the worst first."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from instride.doctor.catalogue import CATALOGUE, About
from instride.doctor.examining import Diagnosis, examine
from instride.doctor.model import Finding, FixKind, Place
from instride.doctor.request import Request
from tests.unit.doctor.case_repository import FILES, line_of, write_case
from tests.unit.doctor.saying import said

ABOUT_REPOSITORIES = tuple(rule.id for rule in CATALOGUE if rule.about is About.REPOSITORY)
EXPECTED = [
    ("compressor-beside-training", "Makefile", "checkpoint-daemon"),
    ("whole-file-compression", "config.toml", "enabled = true"),
    ("twin-keys", "config.yaml", "use_torch_compile"),
    ("two-cleaners", "train.py", "def delete_old_checkpoints"),
    ("save-in-place", "train.py", "torch.save(state, path)"),
    ("collects-garbage-often", "train.py", "gc.collect()"),
]


@pytest.fixture
def diagnosis(tmp_path: Path) -> Diagnosis:
    return examine(Request(repo=write_case(tmp_path), only=ABOUT_REPOSITORIES))


def places(finding: Finding) -> list[Place]:
    return [each for each in finding.evidence if isinstance(each, Place)]


def test_exactly_these_findings_come_in_this_order_with_file_and_line(
    diagnosis: Diagnosis,
) -> None:
    first = [(each.rule, places(each)[0].path, places(each)[0].line) for each in diagnosis.findings]
    assert first == [(rule, path, line_of(path, text)) for rule, path, text in EXPECTED]
    assert diagnosis.unknown == []


def test_the_evidence_is_the_line_itself(diagnosis: Diagnosis) -> None:
    for finding in diagnosis.findings:
        for place in places(finding):
            assert place.text.strip() in FILES[place.path].splitlines()[place.line - 1]


def test_the_second_cleaner_and_the_key_that_is_read_are_evidence_too(
    diagnosis: Diagnosis,
) -> None:
    by_rule = {finding.rule: finding for finding in diagnosis.findings}
    keep = Place("config.toml", line_of("config.toml", "keep_latest"), "keep_latest = 3")
    assert keep in by_rule["two-cleaners"].evidence
    reads = line_of("train.py", "if config.compile")
    assert reads in [place.line for place in places(by_rule["twin-keys"])]


def test_every_finding_is_said_in_all_languages_and_has_a_fix(diagnosis: Diagnosis) -> None:
    for finding in diagnosis.findings:
        assert all(said(finding).values())
        assert finding.fixes, finding.rule


def test_every_diff_can_be_applied(diagnosis: Diagnosis, tmp_path: Path) -> None:
    diffs = [
        fix.text
        for finding in diagnosis.findings
        for fix in finding.fixes
        if fix.kind is FixKind.DIFF
    ]
    assert diffs
    for text in diffs:
        done = subprocess.run(
            ["git", "apply", "--check", "-"], cwd=tmp_path, input=text.encode(), capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode() + text


def test_nothing_in_the_repository_is_changed(tmp_path: Path) -> None:
    write_case(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    examine(Request(repo=tmp_path))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert {path.name: path.read_text(encoding="utf-8") for path in before} == FILES
