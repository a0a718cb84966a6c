"""Help is there, and quick: nothing heavy is loaded for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import instride
from instride.cli.main import VERBS, main

HEAVY = {"rich", "msgspec", "torch", "numpy", "backports", "tempfile", "gzip"}


def loaded_by(program: str) -> set[str]:
    """Top-level modules that are loaded after a program has run in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys, json; print(json.dumps([*sys.modules]))"],
        capture_output=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(instride.__file__).parents[1])},
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


def test_loading_the_command_loads_nothing_heavy() -> None:
    assert loaded_by("import instride.cli.main") & HEAVY == set()


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["explain", "--help"]])
def test_help_loads_nothing_heavy(args: list[str]) -> None:
    loaded = loaded_by(f"from instride.cli.main import main\nmain({args!r})")
    assert "instride" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_verb(capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert main([option]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "instride explain train.log" in printed.out
    for verb, sentence in VERBS.items():
        assert re.search(rf"^  {verb} +{re.escape(sentence)}$", printed.out, re.MULTILINE)


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_of_explain_names_every_option(
    capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert main(["explain", option]) == 0
    printed = capsys.readouterr().out
    for name in ("LOG...", "--dialect ", "--dialects", "--pattern", "--json", "--follow"):
        assert name in printed


def test_help_fits_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for args in (["--help"], *([verb, "--help"] for verb in VERBS)):
        assert main(args) == 0
        assert all(len(line) <= 80 for line in capsys.readouterr().out.splitlines())


def test_the_sentence_of_a_verb_is_that_of_its_own_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for verb, sentence in VERBS.items():
        main([verb, "--help"])
        assert sentence in capsys.readouterr().out


def test_nothing_said_is_answered_with_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Usage: instride")
    assert "error:" not in printed.err


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"instride, version {instride.__version__}\n"


def test_the_module_can_be_run() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "instride", "--help"],
        capture_output=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(instride.__file__).parents[1])},
    )
    assert done.stdout.startswith(b"Usage: instride")
