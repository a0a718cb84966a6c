"""The agent over directories of a script: what it makes, what it deletes, what it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instride.agent import shrinking
from instride.agent.remembering import FILE as MEMORY
from instride.agent.status import read_status
from instride.errors import NoStoreError
from instride.governor.pace import StoppedError
from instride.places import PRIVATE
from instride.store.checking import check
from instride.store.directory import committed_in, leftovers_in
from instride.store.listing import list_store
from instride.store.pruning import prune
from instride.store.retention import Keep
from tests.unit.agent.agents import checkpoint_bytes, holds, journal, names_in, run_once, save
from tests.unit.store.committing import commit, flip


@pytest.mark.parametrize(
    ("format", "suffix"), [("zstd", ".zst"), ("lz4", ".lz4"), ("pack", ".pack")]
)
def test_each_checkpoint_becomes_a_smaller_file_beside_it(
    tmp_path: Path, format: str, suffix: str
) -> None:
    path = save(tmp_path, "step_100.pt", num_bytes=9_000_000)
    lines = run_once(tmp_path, format=format)
    made = path.with_name(path.name + suffix)
    assert holds(made, path.read_bytes())
    assert made.stat().st_size < path.stat().st_size
    assert made.stat().st_mtime_ns == path.stat().st_mtime_ns
    assert check(tmp_path).num_damaged == 0
    (line,) = lines.about("step_100.pt:")
    assert "9.0 MB to" in line
    (noted,) = journal(tmp_path, "compressed")
    assert noted["original_bytes"] == path.stat().st_size
    assert not list(leftovers_in(tmp_path))


def test_a_file_that_was_not_done_in_the_end_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(make: object, tick: object) -> int:
        raise StoppedError

    save(tmp_path, "step_100.pt")
    monkeypatch.setattr(shrinking, "do_aside", stopped)
    said = run_once(tmp_path).lines
    assert said[-2:] == [
        "step_100.pt is not done: the next agent begins with it anew",
        "nothing was compressed",
    ]


def test_nothing_is_done_twice(tmp_path: Path) -> None:
    save(tmp_path, "step_100.pt")
    save(tmp_path, "step_200.pt")
    run_once(tmp_path)
    assert len(journal(tmp_path, "compressed")) == 2
    assert run_once(tmp_path).about("nothing was compressed")
    (tmp_path / PRIVATE / MEMORY).unlink()
    assert run_once(tmp_path).about("nothing was compressed")


def test_a_checkpoint_that_is_written_anew_is_compressed_anew(tmp_path: Path) -> None:
    path = save(tmp_path, "step_100.pt", seed=1)
    run_once(tmp_path)
    path.write_bytes(checkpoint_bytes(2))
    run_once(tmp_path)
    made = tmp_path / "step_100.pt.zst"
    assert holds(made, checkpoint_bytes(2))
    assert len(list((tmp_path / PRIVATE / "manifests").iterdir())) == 1
    assert check(made).num_damaged == 0


def test_the_original_goes_only_when_that_was_asked_for(tmp_path: Path) -> None:
    path = save(tmp_path, "step_100.pt")
    data = path.read_bytes()
    run_once(tmp_path)
    assert path.exists()
    run_once(tmp_path, removes_original=True)
    assert names_in(tmp_path) == ["step_100.pt.zst"]
    assert holds(tmp_path / "step_100.pt.zst", data)


def test_an_original_stays_if_what_was_made_of_it_is_damaged(tmp_path: Path) -> None:
    path = save(tmp_path, "step_100.pt", num_bytes=9_000_000)
    run_once(tmp_path)
    flip(tmp_path / "step_100.pt.zst", 1000)
    os.utime(tmp_path / "step_100.pt.zst", ns=(path.stat().st_mtime_ns,) * 2)
    lines = run_once(tmp_path, removes_original=True)
    assert path.exists()
    assert lines.about("step_100.pt stays")


def test_an_original_that_a_link_points_to_stays(tmp_path: Path) -> None:
    path = save(tmp_path, "step_100.pt")
    (tmp_path / "latest").symlink_to("step_100.pt")
    lines = run_once(tmp_path, removes_original=True)
    assert path.exists()
    assert lines.about("a link points to it")


def test_a_file_of_somebody_is_not_overwritten(tmp_path: Path) -> None:
    save(tmp_path, "step_100.pt")
    (tmp_path / "step_100.pt.zst").write_bytes(b"somebody's")
    lines = run_once(tmp_path, keep=1, removes_original=True)
    assert (tmp_path / "step_100.pt.zst").read_bytes() == b"somebody's"
    assert (tmp_path / "step_100.pt").exists()
    assert lines.about("is not the agent's")


def test_once_wants_a_directory_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(NoStoreError):
        run_once(tmp_path / "missing")


def test_checkpoints_of_a_saver_keep_what_is_known_of_them(tmp_path: Path) -> None:
    for step, metric in ((100, 2.0), (200, 1.0)):
        commit(tmp_path, step, checkpoint_bytes(step), metric=metric)
    (tmp_path / "latest").unlink()
    run_once(tmp_path, removes_original=True)
    entries = list_store(tmp_path).checkpoints
    assert [(entry.name, entry.metric, entry.call_s) for entry in entries] == [
        ("step_00000100.pt.zst", 2.0, 0.004),
        ("step_00000200.pt.zst", 1.0, 0.004),
    ]
    assert entries[1].is_newest
    pruning = prune(tmp_path, Keep(last=1), dry_run=False)
    assert [entry.step for entry in pruning.deleted] == [100]


def test_list_verify_and_prune_know_what_the_agent_made(tmp_path: Path) -> None:
    for step in (100, 200, 300):
        save(tmp_path, f"step_{step}.pt", num_bytes=9_000_000)
        run_once(tmp_path, removes_original=True)
    listing = list_store(tmp_path)
    assert [(entry.step, entry.state) for entry in listing.checkpoints] == [
        (100, "committed"), (200, "committed"), (300, "committed")
    ]  # fmt: skip
    assert listing.checkpoints[2].is_newest
    assert listing.checkpoints[2].call_s is None
    pruning = prune(tmp_path, Keep(last=1), dry_run=False)
    assert [entry.step for entry in pruning.deleted] == [100, 200]
    flip(tmp_path / "step_300.pt.zst", 1000)
    verdict = check(tmp_path)
    assert verdict.num_damaged == 1
    assert [checkpoint.step for checkpoint in committed_in(tmp_path)] == [300]


def test_names_that_are_no_text_are_left_alone(tmp_path: Path) -> None:
    directory = tmp_path / os.fsdecode(b"run\xff")
    directory.mkdir()
    odd = directory / os.fsdecode(b"step_\xff1.pt")
    odd.write_bytes(checkpoint_bytes())
    save(directory, "step_2.pt")
    run_once(directory, keep=1, removes_original=True)
    assert odd.exists()
    assert (directory / "step_2.pt.zst").exists()
    assert read_status(directory).totals.num_compressed == 1


def test_a_directory_that_is_named_twice_is_owned_once(tmp_path: Path) -> None:
    save(tmp_path, "step_1.pt")
    (tmp_path / "again").symlink_to(".")
    run_once(tmp_path, directories=(tmp_path, tmp_path / "again"))
    assert (tmp_path / "step_1.pt.zst").exists()


def test_several_directories_are_looked_after(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        save(tmp_path / name, "step_1.pt")
    run_once(tmp_path / "a", directories=(tmp_path / "a", tmp_path / "b"))
    assert (tmp_path / "a/step_1.pt.zst").exists()
    assert (tmp_path / "b/step_1.pt.zst").exists()
