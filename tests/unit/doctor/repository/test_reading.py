"""What is read of a repository, and what is not, whoever wrote it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from instride.doctor.repository import Repository, Skipped, Why, files, read_repository, reading
from instride.doctor.request import Request
from instride.doctor.rules import CHECKS
from tests.integration.commands import as_nobody


def test_every_kind_of_file_is_found(tmp_path: Path) -> None:
    for name in ("train.py", "a/config.yaml", "b.toml", "c.json", "d.ini", "run.sh", "Makefile",
                 "Dockerfile", "x.service", "compose.yaml", "Procfile"):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / "launch").write_text("#!/usr/bin/env bash\npython train.py\n")
    repository = read_repository(tmp_path)
    assert [file.path for file in repository.python] == ["train.py"]
    assert {file.path: file.kind for file in repository.configs} == {
        "a/config.yaml": "yaml", "b.toml": "toml", "c.json": "json", "d.ini": "ini",
    }  # fmt: skip
    assert {file.path: file.kind for file in repository.scripts} == {
        "run.sh": "shell", "Makefile": "make", "Dockerfile": "docker", "x.service": "unit",
        "compose.yaml": "compose", "Procfile": "procfile", "launch": "shell",
    }  # fmt: skip


@pytest.mark.parametrize("folder", [".git", "node_modules", "venv", "build", "a/site-packages"])
def test_what_others_wrote_is_left_out(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "train.py").write_text("")
    assert not read_repository(tmp_path).python


def test_an_environment_of_any_name_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "py311").mkdir()
    (tmp_path / "py311" / "pyvenv.cfg").write_text("")
    (tmp_path / "py311" / "a.py").write_text("")
    assert not read_repository(tmp_path).python


@pytest.mark.parametrize("glob", ["old", "old/*", "old/train.py", "*.py"])
def test_what_is_excluded_is_left_out(tmp_path: Path, glob: str) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "train.py").write_text("")
    assert not read_repository(tmp_path, [glob]).python


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("")
    root = tmp_path / "root"
    root.mkdir()
    try:
        (root / "loop").symlink_to(root)
        (root / "out").symlink_to(outside)
        (root / "file.py").symlink_to(outside / "secret.py")
    except OSError:
        pytest.skip("links may not be made here")
    assert not read_repository(root).python


def test_a_large_file_is_skipped_and_said(tmp_path: Path) -> None:
    (tmp_path / "big.py").write_bytes(b"x = 1\n" * 400_000)
    repository = read_repository(tmp_path)
    assert not repository.python
    assert repository.skipped == [Skipped("big.py", Why.TOO_LARGE)]


def test_deep_folders_are_skipped_and_said(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 30)
    deep.mkdir(parents=True)
    (deep / "train.py").write_text("")
    repository = read_repository(tmp_path)
    assert not repository.python
    assert [each.why for each in repository.skipped] == [Why.TOO_DEEP]


def test_more_files_than_can_be_are_skipped_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.py").write_text("")
    repository = read_repository(tmp_path)
    assert len(repository.python) == 3
    assert repository.skipped == [Skipped("3.py", Why.TOO_MANY)]


def test_a_deadline_ends_the_reading(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    repository = read_repository(tmp_path, deadline=time.monotonic() - 1)
    assert repository.skipped == [Skipped("a.py", Why.TIME)]


def test_a_folder_without_permission_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)  # the folders above it are open to their owner only
    with as_nobody():
        assert read_repository(Path()).skipped == [Skipped("closed", Why.UNREADABLE)]


BROKEN = {
    "syntax": (b"def f(:\n", Why.BROKEN),
    "Python 2": (b"print 'hello'\n", Why.NOT_PYTHON_3),
    "Python 2's exceptions": (b"try:\n    f()\nexcept E, e:\n    pass\n", Why.NOT_PYTHON_3),
    "deep nesting": (b"x = " + b"(" * 5000 + b")" * 5000 + b"\n", Why.BROKEN),
    "a long chain": (b"x = a" + b".b" * 60_000 + b"\n", Why.BROKEN),
    "a long sum": (b"x = " + b"1+" * 60_000 + b"1\n", Why.BROKEN),
}


@pytest.mark.parametrize(("data", "why"), BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_does_not_parse_is_said(tmp_path: Path, data: bytes, why: Why) -> None:
    repository = _one(tmp_path, data)
    [file] = repository.python
    assert not file.tree.body
    assert repository.skipped == [Skipped("a.py", why)]


def test_binary_junk_is_said(tmp_path: Path) -> None:
    assert _one(tmp_path, bytes(range(256))).skipped == [Skipped("a.py", Why.BROKEN)]


@pytest.mark.parametrize(
    "data", [b"# caf\xe9\nx = 1\n", b"\xef\xbb\xbfx = 1\n", b"x = 1\r\ny = 2\r\n", b"s = '\\d'\n"]
)
def test_other_encodings_ends_and_warnings_are_read(tmp_path: Path, data: bytes) -> None:
    repository = _one(tmp_path, data)
    assert repository.python[0].tree.body
    assert not repository.skipped


def _one(root: Path, data: bytes) -> Repository:
    (root / "a.py").write_bytes(data)
    return read_repository(root)


HOSTILE = {
    "a word without end": b"a" * 400_000,
    "spaces without end": b"if x:" + b" " * 400_000,
    "lines without end": b"print 'a'" + b"\n" * 400_000,
    "imports without end": b"import " * 60_000,
    "brackets without end": b"f(" * 200_000,
    "one name given again and again": b"x = torch.save(x, x)\n" * 20_000,
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("name", ["a.py", "a.sh", "Makefile", "a.yaml", "a.json", "a.ini"])
def test_rules_end_on_whatever_is_in_a_file(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    repository = read_repository(tmp_path)
    for rule, check in CHECKS.items():
        assert all(finding.rule == rule for finding in check(repository, Request(repo=tmp_path)))


def test_a_table_of_numbers_is_not_taken_for_code(tmp_path: Path) -> None:
    repository = _one(tmp_path, b"x = [" + b"1," * 150_000 + b"]\n")
    assert not repository.python[0].tree.body
    assert repository.skipped == [Skipped("a.py", Why.TOO_LARGE)]


def test_code_beyond_what_fits_in_memory_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_CODE", 100)
    for number in range(3):
        (tmp_path / f"{number}.py").write_text("value = 1 + 2\n" * 20)
    repository = read_repository(tmp_path)
    assert [bool(file.tree.body) for file in repository.python] == [True, False, False]
    assert {each.why for each in repository.skipped} == {Why.TOO_MANY}
