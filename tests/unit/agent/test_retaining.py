"""What the agent deletes of a script's checkpoints, and what it never does."""

from __future__ import annotations

import json
from pathlib import Path

from instride.agent.remembering import FILE as MEMORY
from instride.agent.status import read_status
from instride.governor.pace import Setting
from instride.places import PRIVATE
from instride.store.listing import list_store
from tests.unit.agent.agents import Lines, agent, journal, names_in, run_once, running, save, until


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
    with running(worker):
        until(lambda: len(read_memory(tmp_path)) == 2)
        (tmp_path / "step_100.pt").unlink()
        until(lambda: bool(lines.about("somebody else prunes")))
        for step in (300, 400, 500):
            save(tmp_path, f"step_{step}.pt")
        until(lambda: {"step_300.pt", "step_400.pt", "step_500.pt"} <= read_memory(tmp_path))
        (tmp_path / "step_200.pt").unlink()
        until(lambda: "step_200.pt" not in read_memory(tmp_path))
    assert names_in(tmp_path) == ["step_300.pt", "step_400.pt", "step_500.pt"]
    assert len(lines.about("somebody else prunes")) == 1
    status = read_status(tmp_path)
    assert status.now is not None
    assert status.now.others_prune


def test_its_own_copies_are_pruned_also_beside_a_trainer_that_prunes(tmp_path: Path) -> None:
    lines = Lines()
    worker = agent(tmp_path, lines, keep=2, interval_s=0.05)
    with running(worker):
        for step in (100, 200, 300, 400):
            path = save(tmp_path, f"step_{step}.pt")
            until(path.with_name(path.name + ".zst").exists)
            path.unlink()
        until(lambda: len(names_in(tmp_path)) == 2)
    assert names_in(tmp_path) == ["step_300.pt.zst", "step_400.pt.zst"]


def read_memory(directory: Path) -> set[str]:
    """The names that the agent has taken in."""
    try:
        return set(json.loads((directory / PRIVATE / MEMORY).read_bytes())["files"])
    except FileNotFoundError:
        return set()


def test_old_ones_go_while_a_file_is_held_back_and_nobody_waits_for_one_that_went(
    tmp_path: Path,
) -> None:
    lines = Lines()
    worker = agent(tmp_path, lines, keep=2, interval_s=0.05)
    pace = worker._governing.pace
    pace.set(Setting(is_open=False))  # as while a training runs, with `mode = "after"`
    save(tmp_path, "step_100.pt")
    with running(worker):
        until(lambda: pace.is_waiting)
        for step in (200, 300, 400):
            save(tmp_path, f"step_{step}.pt")
        until(lambda: names_in(tmp_path) == ["step_300.pt", "step_400.pt"])
        pace.set(Setting())
        until(lambda: len(names_in(tmp_path)) == 4)
    assert names_in(tmp_path) == [
        "step_300.pt", "step_300.pt.zst", "step_400.pt", "step_400.pt.zst"
    ]  # fmt: skip
    assert lines.about("step_100.pt is gone")
    assert not lines.about("somebody else prunes")
