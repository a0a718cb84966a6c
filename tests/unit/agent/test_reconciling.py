"""The agent over directories of a script: what it makes, what it deletes, what it leaves alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from instride.agent.remembering import FILE as MEMORY
from instride.agent.status import read_status
from instride.errors import NoStoreError
from instride.framed.reading import open_framed
from instride.governor.pace import Setting
from instride.pack.reading import PackFile
from instride.places import PRIVATE
from instride.store.checking import check
from instride.store.directory import committed_in, leftovers_in
from instride.store.journal import journal_path
from instride.store.listing import list_store
from instride.store.pruning import prune
from instride.store.retention import Keep
from tests.unit.agent.agents import Lines, agent, checkpoint_bytes, names_in, run_once, save
from tests.unit.store.committing import commit, flip


def journal(directory: Path, kind: str) -> list[dict[str, object]]:
    lines = journal_path(directory).read_text().splitlines()
    return [line for each in lines if (line := json.loads(each))["kind"] == f"agent-{kind}"]


def holds(made: Path, data: bytes) -> bool:
    opened = PackFile(made) if made.suffix == ".pack" else open_framed(made)
    with opened as file:
        return file.read() == data


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


def test_old_checkpoints_go_in_all_their_forms(tmp_path: Path) -> None:
    for step in (100, 200, 300, 400):
        save(tmp_path, f"step_{step}.pt")
        run_once(tmp_path, keep=2)
    assert names_in(tmp_path) == [
        "step_300.pt", "step_300.pt.zst", "step_400.pt", "step_400.pt.zst"
    ]  # fmt: skip
    assert len(list((tmp_path / PRIVATE / "manifests").iterdir())) == 2
    assert [line["why"] for line in journal(tmp_path, "deleted")] == ["keep_latest = 2"] * 2


def test_without_compression_it_only_prunes(tmp_path: Path) -> None:
    for step in (90, 100, 1000):
        save(tmp_path, f"step_{step}.pt")
    run_once(tmp_path, keep=2, is_compressing=False)
    assert names_in(tmp_path) == ["step_100.pt", "step_1000.pt"]


def test_what_is_newest_is_told_by_when_it_came(tmp_path: Path) -> None:
    for step in (100, 200, 300):
        save(tmp_path, f"step_{step}.pt")
    run_once(tmp_path, is_compressing=False)
    save(tmp_path, "step_150.pt")  # the training went back to an earlier step
    run_once(tmp_path, keep=2, is_compressing=False)
    assert names_in(tmp_path) == ["step_150.pt", "step_300.pt"]


def test_the_last_good_one_outlives_what_the_rule_says(tmp_path: Path) -> None:
    save(tmp_path, "step_100.pt")
    for step in (200, 300):
        path = save(tmp_path, f"step_{step}.pt")
        data = bytearray(path.read_bytes())
        data[50_000] ^= 1  # its directory is there, its checksum does not fit
        path.write_bytes(data)
    lines = run_once(tmp_path, keep=2, is_compressing=False)
    assert len(names_in(tmp_path)) == 3
    assert lines.about("nothing of step_#.pt is deleted")


def test_files_that_were_not_meant_are_never_touched(tmp_path: Path) -> None:
    others = ["best.pt", "notes.txt", "step_1.pt.tmp", "step_1.bin", ".step_2.pt", "step_9.pt.zst"]
    for name in others:
        save(tmp_path, name, num_bytes=2000)
    (tmp_path / "step_7.pt").mkdir()
    before = {name: (tmp_path / name).read_bytes() for name in others}
    for step in (100, 200, 300):
        save(tmp_path, f"step_{step}.pt")
    run_once(tmp_path, keep=1, removes_original=True)
    assert {name: (tmp_path / name).read_bytes() for name in others} == before
    assert (tmp_path / "step_7.pt").is_dir()
    assert [name for name in names_in(tmp_path) if name not in before] == [
        "step_300.pt.zst", "step_7.pt"
    ]  # fmt: skip


def test_names_without_a_number_are_compressed_and_never_deleted(tmp_path: Path) -> None:
    for name in ("best.pt", "final.pt", "step_1.pt", "step_2.pt"):
        save(tmp_path, name)
    run_once(tmp_path, keep=1, pattern="*.pt")
    assert names_in(tmp_path) == [
        "best.pt", "best.pt.zst", "final.pt", "final.pt.zst", "step_2.pt", "step_2.pt.zst"
    ]  # fmt: skip
    listing = list_store(tmp_path, None)
    assert [entry.name for entry in listing.checkpoints] == ["step_2.pt.zst"]


def test_a_trainer_that_prunes_too_is_noticed_and_left_to_it(tmp_path: Path) -> None:
    lines = Lines()
    worker = agent(tmp_path, lines, keep=2, is_compressing=False, interval_s=0.05)
    for step in (100, 200):
        save(tmp_path, f"step_{step}.pt")
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        until(lambda: len(read_memory(tmp_path)) == 2)
        (tmp_path / "step_100.pt").unlink()
        until(lambda: bool(lines.about("somebody else prunes")))
        for step in (300, 400, 500):
            save(tmp_path, f"step_{step}.pt")
        until(lambda: {"step_300.pt", "step_400.pt", "step_500.pt"} <= read_memory(tmp_path))
        (tmp_path / "step_200.pt").unlink()
        until(lambda: "step_200.pt" not in read_memory(tmp_path))
    finally:
        worker.stop()
        thread.join()
    assert names_in(tmp_path) == ["step_300.pt", "step_400.pt", "step_500.pt"]
    assert len(lines.about("somebody else prunes")) == 1
    status = read_status(tmp_path)
    assert status.now is not None
    assert status.now.others_prune


def test_its_own_copies_are_pruned_also_beside_a_trainer_that_prunes(tmp_path: Path) -> None:
    lines = Lines()
    worker = agent(tmp_path, lines, keep=2, interval_s=0.05)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        for step in (100, 200, 300, 400):
            path = save(tmp_path, f"step_{step}.pt")
            until(path.with_name(path.name + ".zst").exists)
            path.unlink()
        until(lambda: len(names_in(tmp_path)) == 2)
    finally:
        worker.stop()
        thread.join()
    assert names_in(tmp_path) == ["step_300.pt.zst", "step_400.pt.zst"]


def read_memory(directory: Path) -> set[str]:
    """The names that the agent has taken in."""
    try:
        return set(json.loads((directory / PRIVATE / MEMORY).read_bytes())["files"])
    except FileNotFoundError:
        return set()


def until(is_so: object, patience_s: float = 60.0) -> None:
    assert callable(is_so)
    end = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)


HOLDER = "import sys; file = open(sys.argv[1], 'ab'); print('open', flush=True); input()"
WRITER = """
import sys
with open(sys.argv[1], "wb", buffering=0) as file:
    for line in sys.stdin:
        file.write(bytes.fromhex(line))
        print("written", flush=True)
"""


def test_a_file_that_is_being_written_is_not_touched(tmp_path: Path) -> None:
    data = checkpoint_bytes(num_bytes=300_000)
    path = tmp_path / "step_100.pt"
    lines = Lines()
    worker = agent(tmp_path, lines, interval_s=0.02, removes_original=True)
    thread = threading.Thread(target=worker.run)
    thread.start()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    try:
        with writer:
            for start in range(0, len(data), 20_000):
                writer.stdin.write(data[start : start + 20_000].hex() + "\n")
                writer.stdin.flush()
                writer.stdout.readline()
                looks = worker.num_rounds
                until(lambda: worker.num_rounds >= looks + 2)  # noqa: B023
                assert names_in(tmp_path) == ["step_100.pt"]
        until(lambda: names_in(tmp_path) == ["step_100.pt.zst"])
    finally:
        worker.stop()
        thread.join()
    assert holds(tmp_path / "step_100.pt.zst", data)
    assert not lines.about("changed meanwhile")


def test_a_directory_may_come_later_and_be_made_anew(tmp_path: Path) -> None:
    directory = tmp_path / "checkpoints"
    lines = Lines()
    worker = agent(directory, lines, interval_s=0.05)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        until(lambda: bool(lines.about("not there yet")))
        for _ in range(2):
            directory.mkdir()
            save(directory, "step_1.pt")
            until((directory / "step_1.pt.zst").exists)
            until(partial(gone, directory))
    finally:
        worker.stop()
        thread.join()
    assert not lines.about("somebody else prunes")


def test_old_ones_go_while_a_file_is_held_back_and_nobody_waits_for_one_that_went(
    tmp_path: Path,
) -> None:
    lines = Lines()
    worker = agent(tmp_path, lines, keep=2, interval_s=0.05)
    pace = worker._governing.pace
    pace.set(Setting(is_open=False))  # as while a training runs, with `mode = "after"`
    save(tmp_path, "step_100.pt")
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        until(lambda: pace.is_waiting)
        for step in (200, 300, 400):
            save(tmp_path, f"step_{step}.pt")
        until(lambda: names_in(tmp_path) == ["step_300.pt", "step_400.pt"])
        pace.set(Setting())
        until(lambda: len(names_in(tmp_path)) == 4)
    finally:
        worker.stop()
        thread.join()
    assert names_in(tmp_path) == [
        "step_300.pt", "step_300.pt.zst", "step_400.pt", "step_400.pt.zst"
    ]  # fmt: skip
    assert lines.about("step_100.pt is gone")
    assert not lines.about("somebody else prunes")


def gone(directory: Path) -> bool:
    """Delete a directory that somebody may write to meanwhile."""
    shutil.rmtree(directory, ignore_errors=True)
    return not directory.exists()


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


def test_once_tells_what_it_left_because_it_is_being_written(tmp_path: Path) -> None:
    path = save(tmp_path, "step_1.pt")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    with holder:
        holder.stdout.readline()
        lines = run_once(tmp_path)
        holder.communicate(b"\n")
    assert lines.about("step_1.pt is being written")
    assert names_in(tmp_path) == ["step_1.pt"]


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
