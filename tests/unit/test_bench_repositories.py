"""The repository that the benchmark makes: what it measures is only as good as it is."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import yaml

from bench.repositories import write_repository


def contents(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in root.rglob("*")
        if path.is_file()
    }


def test_it_has_the_files_that_were_asked_for_and_is_the_same_every_time(tmp_path: Path) -> None:
    sizes = [write_repository(tmp_path / name, 160) for name in ("first", "second")]
    first, second = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert first == second
    assert len(first) == 160
    assert sizes == [sum(map(len, first.values()))] * 2


def test_every_file_is_what_its_name_says(tmp_path: Path) -> None:
    write_repository(tmp_path, 32)
    parsers: dict[str, Callable[[str], object]] = {
        ".py": ast.parse,
        ".json": json.loads,
        ".yaml": yaml.safe_load,
        ".sh": str,
    }
    seen = set()
    for name, text in contents(tmp_path).items():
        suffix = Path(name).suffix
        parsers[suffix](text)
        seen.add(suffix)
    assert seen == set(parsers)


def test_some_of_it_trains_and_saves(tmp_path: Path) -> None:
    write_repository(tmp_path, 32)
    assert any("torch.save(" in text for text in contents(tmp_path).values())
