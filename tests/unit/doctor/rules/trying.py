"""Writes a small repository, asks one rule about it, and holds what every finding must keep."""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from instride.doctor.model import Finding, FixKind, Place
from instride.doctor.repository import Repository, read_repository
from instride.doctor.request import Request
from instride.doctor.rules import CHECKS
from tests.unit.doctor.saying import said


def write(root: Path, files: Mapping[str, str]) -> Repository:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return read_repository(root)


def found(rule: str, root: Path, files: Mapping[str, str], log: str | None = None) -> list[Finding]:
    """What a rule finds, each with a sentence in every language and a fix that applies."""
    repository = write(root, files)
    findings = list(CHECKS[rule](repository, Request(repo=root, log=log)))
    for finding in findings:
        assert finding.rule == rule
        assert finding.evidence
        said(finding)
        _check_fixes(finding, root)
    return findings


def _check_fixes(finding: Finding, root: Path) -> None:
    assert finding.fixes
    for fix in finding.fixes:
        assert fix.text.strip()
        if fix.kind is FixKind.DIFF:
            _check_diff(fix.text, root)


def _check_diff(text: str, root: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not here, which says whether a diff applies")
    ran = subprocess.run(
        ["git", "apply", "--check", "-"],
        cwd=root,
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode() + text


def lines(finding: Finding) -> list[tuple[str, int]]:
    """Where in the repository it was found."""
    return [(each.path, each.line) for each in finding.evidence if isinstance(each, Place)]


def line_with(text: str, part: str) -> int:
    """The number of the first line that has this in it."""
    return next(n for n, line in enumerate(text.split("\n"), 1) if part in line)
