"""The promises that the project makes about its own files."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import instride

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
CODE = [source for source in SOURCES if source.parent.name != "languages"]
"""Without the texts for people, which are in their own script."""
LONGEST_FILE_LINES = 800


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_no_source_file_is_too_long_to_read(source: Path) -> None:
    assert len(source.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE_LINES


@pytest.mark.parametrize("source", CODE, ids=name_of)
def test_code_is_ascii(source: Path) -> None:
    offending = [
        number
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1)
        if not line.isascii()
    ]
    assert offending == []


def requirements_of(pyproject: dict[str, Any]) -> list[str]:
    lists = [
        pyproject["project"]["dependencies"],
        *pyproject["project"]["optional-dependencies"].values(),
        *pyproject["dependency-groups"].values(),
    ]
    return [item for listed in lists for item in listed if isinstance(item, str)]


def test_every_dependency_says_why_it_is_there(pyproject: dict[str, Any]) -> None:
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    for requirement in requirements_of(pyproject):
        (line,) = [line for line in lines if line.strip().startswith(f'"{requirement}"')]
        assert re.search(r"#\s+\S+ \S+", line), f"no reason beside {requirement}"


def test_torch_is_an_extra_and_never_a_dependency(pyproject: dict[str, Any]) -> None:
    project = pyproject["project"]
    assert not [line for line in project["dependencies"] if line.startswith("torch")]
    assert project["optional-dependencies"]["torch"] == ["torch>=2.7"]


def test_importing_the_package_loads_none_of_its_parts_and_nobody_elses() -> None:
    program = (
        "import sys; before = set(sys.modules); import instride; "
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    names = set(loaded.stdout.split())
    assert {name for name in names if name.partition(".")[0] == "instride"} == {"instride"}
    others = {name.partition(".")[0] for name in names - {"instride"}}
    assert others <= sys.stdlib_module_names


def test_all_public_names_exist() -> None:
    assert len(instride.__all__) <= 20
    assert all(hasattr(instride, name) for name in instride.__all__)


def test_the_changelog_has_the_version() -> None:
    assert f"## [{instride.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    described = re.findall(r"^(\w+):.*## \S", makefile, re.MULTILINE)
    assert sorted(phony.split()) == sorted(described)
    assert {"demo", "test", "lint", "bench", "soak", "clean", "help"} <= set(described)


def test_continuous_integration_can_be_run() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert "set -euo pipefail" in script.read_text()
