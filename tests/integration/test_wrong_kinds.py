"""A directory where a file is wanted, and the other way round: what is true, and what to type."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from instride.cli.main import main
from tests.unit.pack.packs import packed
from tests.unit.store.committing import commit

Printed = pytest.CaptureFixture[str]
HINTED = re.compile(r"\nhint: .*`instride ([^`]+)`")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ck", "packs", "empty"):
        Path(name).mkdir()
    commit(Path("ck"), 100)
    packed(Path("packs/a.pt"), b"weights")


def refused(printed: Printed, code: int, *args: str) -> str:
    assert main([*args]) == code
    captured = printed.readouterr()
    assert captured.out == ""
    return captured.err


def as_typed(said: str) -> list[str]:
    """The command of a hint, its patterns filled in as a shell does."""
    found = HINTED.search(said)
    assert found, said
    words = shlex.split(found[1])
    return [name for word in words for name in sorted(map(str, Path().glob(word))) or [word]]


@pytest.mark.parametrize("name", [".", "/", "..", "empty", "ck", "ck/", "packs/../ck"])
@pytest.mark.parametrize("verb", ["pack", "unpack"])
def test_a_directory_is_called_one(verb: str, name: str, capsys: Printed) -> None:
    said = refused(capsys, 44, verb, name)
    assert said.startswith(f"error: cannot {verb} `{Path(name)}`: Is a directory\n")
    assert "\nhint: " in said


@pytest.mark.parametrize(
    ("args", "hinted"),
    [
        (["pack", "ck"], "instride pack ck/step_*.pt"),
        (["unpack", "packs"], "instride unpack packs/*.pack"),
    ],
)
def test_the_files_in_a_directory_are_what_to_name(
    args: list[str], hinted: str, capsys: Printed
) -> None:
    said = refused(capsys, 44, *args)
    assert f"`{hinted}`" in said
    assert main(as_typed(said)) == 0


def test_a_hint_is_about_files_that_are_there(capsys: Printed) -> None:
    Path("ck/step_00000100.pt").rename("ck/last.ckpt")
    Path("ck/.hidden.pt").touch()
    assert "`instride pack ck/*.ckpt`" in refused(capsys, 44, "pack", "ck")


def test_a_name_that_cannot_be_is_told_as_one(capsys: Printed) -> None:
    for verb in ("pack", "unpack"):
        assert "File name too long" in refused(capsys, 44, verb, 300 * "a")


def test_a_pipe_is_not_waited_for(capsys: Printed) -> None:
    os.mkfifo("pipe")
    for verb in ("pack", "unpack"):
        assert "neither a file nor a directory" in refused(capsys, 44, verb, "pipe")


def test_export_of_a_directory_names_a_checkpoint_in_it(capsys: Printed) -> None:
    said = refused(capsys, 40, "export", "ck", "m 1.safetensors")
    assert "`instride export ck/latest 'm 1.safetensors'`" in said
    Path("ck/latest").unlink()
    said = refused(capsys, 40, "export", "ck", "m.safetensors")
    assert "`instride export ck/step_00000100.pt m.safetensors`" in said
    assert main(as_typed(refused(capsys, 40, "export", "empty", "m.safetensors"))) == 0


@pytest.mark.parametrize("args", [["list"], ["prune", "--keep-last", "1"]])
def test_a_checkpoint_where_its_directory_is_wanted(args: list[str], capsys: Printed) -> None:
    said = refused(capsys, 40, *args, "ck/latest")
    assert "`ck/latest`: Not a directory" in said
    assert as_typed(said) == ["list", "ck"]
    assert main(as_typed(said)) == 0
