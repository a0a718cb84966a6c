"""Where nothing can be written: which directory, why, and an exit code of its own."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from instride.cli.main import main
from instride.errors import PackError, UnwritableError
from instride.pack.refusing import naming_what_failed
from tests.crash.mounts import mounted, remount
from tests.unit.pack.packs import packed, weights
from tests.unit.store.committing import commit

Printed = pytest.CaptureFixture[str]
MB = 1 << 20


def refused(printed: Printed, *args: str | Path) -> str:
    assert main([str(arg) for arg in args]) == 16
    captured = printed.readouterr()
    assert captured.out == ""
    return captured.err


def test_a_directory_that_is_read_only_is_named(tmp_path: Path, capsys: Printed) -> None:
    with mounted("tmpfs", tmp_path / "ro", 8 * MB) as store:
        for step in (100, 200):
            commit(store, step)
        pack = packed(store / "a.pt", b"weights")
        remount(store, "ro")
        path = store / "step_00000100.pt"

        for args, named in (
            (("prune", store, "--keep-last", "1"), store),
            (("pack", path), f"{path}.pack"),
            (("unpack", pack), store / "a.pt"),
        ):
            said = refused(capsys, *args)
            assert said.startswith(f"error: cannot write `{named}`: Read-only file system\n")
            assert f"hint: `df -h {store}` and `ls -ld {store}` show" in said


def test_a_full_disk_is_named_and_the_original_stays(tmp_path: Path, capsys: Printed) -> None:
    data = weights(400_000)
    packed(tmp_path / "b.pt", data)
    with mounted("tmpfs", tmp_path / "full", 2 * MB) as store:
        (store / "a.pt").write_bytes(data)
        said = refused(capsys, "pack", store / "a.pt")
        assert said.startswith(f"error: cannot write `{store}/a.pt.pack`: No space left on device")
        assert f"`df -h {store}`" in said
        refused(capsys, "unpack", tmp_path / "b.pt.pack", "-o", store / "b.pt")
        assert [path.name for path in store.iterdir()] == ["a.pt"]
        assert (store / "a.pt").read_bytes() == data


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("target", [".", "out"])
def test_a_directory_is_no_name_for_a_file(
    target: str, force: list[str], tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    pack = packed(Path("a.pt"), b"weights")
    for args in (("unpack", pack, "-o", target), ("export", pack, target)):
        said = refused(capsys, *args, *force)
        assert said.startswith(f"error: cannot write `{target}`: Is a directory\n")
        assert f"`ls -l {target}`" in said


def test_a_directory_that_is_not_there_can_be_made() -> None:
    assert UnwritableError("no/where.html", "").hint == "`mkdir -p no` makes the directory"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.EACCES, "", "a.pt"), PackError),
        (OSError(errno.EACCES, "", ".a.pt.pack.tmp"), UnwritableError),
        (OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)), UnwritableError),
        (OSError(errno.EIO, os.strerror(errno.EIO)), PackError),
        (UnwritableError("b", ""), UnwritableError),
    ],
)
def test_what_cannot_be_read_is_told_from_what_cannot_be_written(
    error: OSError, expected: type[Exception]
) -> None:
    with pytest.raises(expected), naming_what_failed(Path("a.pt"), Path("a.pt.pack")):
        raise error
