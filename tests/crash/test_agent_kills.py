"""SIGKILL at every phase of the agent: nothing is lost, no half has a name, the next goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from instride.agent.making import SUFFIXES
from instride.faults import AGENT_PHASES
from instride.framed.reading import open_framed, verify_framed
from instride.pack.reading import PackFile
from instride.store.directory import leftovers_in
from instride.store.manifest import manifests_of, read_manifest
from instride.store.verifying import verify
from tests.crash.agents import killed, run, start
from tests.crash.mounts import mounted
from tests.unit.agent.agents import checkpoint_bytes, names_in, save
from tests.unit.store.committing import flip

STEPS = (100, 200, 300)
KEEP = 2
PHASES_OF_A_PACK = (
    "pack.opened", "pack.write", "pack.written", "pack.synced", "agent.checked", "agent.manifest",
    "agent.renamed", "agent.removed",
)  # fmt: skip
SETTINGS: dict[str, Any] = {"keep": KEEP, "removes_original": True}


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    directory = tmp_path / "checkpoints"
    directory.mkdir()
    for step in STEPS:
        save(directory, f"step_{step}.pt", seed=step)
    return directory


def content(path: Path) -> bytes:
    if path.suffix in (".zst", ".lz4"):
        with open_framed(path) as file:
            return file.read() or b""
    if path.suffix == ".pack":
        with PackFile(path) as unpacked:
            return unpacked.read() or b""
    return path.read_bytes()


def assert_sound(directory: Path) -> None:
    """Every name leads to a whole checkpoint; the newest are all there, in one form or another."""
    steps = set()
    for name in names_in(directory):
        step = int(name.removeprefix("step_").partition(".")[0])
        assert content(directory / name) == checkpoint_bytes(step), name
        if not name.endswith(".pt"):
            verify(directory / name)
        steps.add(step)
    assert set(STEPS[-KEEP:]) <= steps


@pytest.mark.parametrize(
    ("format", "phase"),
    [
        *(("zstd", phase) for phase in AGENT_PHASES),
        *(("lz4", phase) for phase in ("agent.write", "agent.checked", "agent.manifest")),
        *(("pack", phase) for phase in PHASES_OF_A_PACK),
    ],
)
def test_killed_at(format: str, phase: str, checkpoints: Path) -> None:
    settings = {**SETTINGS, "format": format}
    killed(checkpoints, phase, **settings)
    assert_sound(checkpoints)
    said = run(checkpoints, **settings)
    suffix = SUFFIXES[format]
    assert names_in(checkpoints) == [f"step_200.pt{suffix}", f"step_300.pt{suffix}"]
    assert_sound(checkpoints)
    assert not list(leftovers_in(checkpoints))
    assert not list(checkpoints.glob(".*.tmp"))
    assert not list((checkpoints / ".instride").rglob("*.tmp"))
    assert "somebody else prunes" not in said
    for name in names_in(checkpoints):
        assert len(manifests_of(checkpoints / name)) == 1


@pytest.mark.parametrize("phase", ["agent.write", "agent.manifest", "agent.renamed"])
def test_killed_again_and_again(phase: str, checkpoints: Path) -> None:
    for _ in range(3):
        process = start(checkpoints, faults=f"kill@{phase}", **SETTINGS)
        process.communicate(timeout=120)
        assert_sound(checkpoints)
    run(checkpoints, **SETTINGS)
    assert names_in(checkpoints) == ["step_200.pt.zst", "step_300.pt.zst"]
    assert_sound(checkpoints)


@pytest.mark.parametrize("format", ["zst", "lz4", "pack"])
def test_what_a_kill_left_of_any_format_is_swept(format: str, checkpoints: Path) -> None:
    (checkpoints / f".step_100.pt.{format}.0123abcd.tmp").write_bytes(b"half of it")
    others = checkpoints / ".best.pt.0123abcd.tmp"
    others.write_bytes(b"of a save that is under way")
    said = run(checkpoints, is_compressing=False)
    assert "left by an agent that was killed" in said
    assert [path.name for path in checkpoints.glob(".*.tmp")] == [others.name]


def test_an_error_of_the_disk_leaves_the_original_alone(checkpoints: Path) -> None:
    process = start(checkpoints, faults="EIO@agent.synced", **SETTINGS)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert said.count("is left as it is") == KEEP
    assert names_in(checkpoints) == ["step_200.pt", "step_300.pt"]
    assert not list(checkpoints.glob(".*.tmp"))


def test_a_full_disk_is_waited_for(tmp_path: Path) -> None:
    with mounted("tmpfs", tmp_path / "disk", 40 << 20) as disk:
        path = save(disk, "step_1.pt", num_bytes=12 << 20)
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(20 << 20))
        said = run(disk)
        assert "step_1.pt waits" in said
        assert names_in(disk) == ["ballast", "step_1.pt"]
        ballast.unlink()
        run(disk)
        verify_framed(disk / "step_1.pt.zst")
        assert content(disk / "step_1.pt.zst") == path.read_bytes()


def test_a_disk_that_fills_up_half_way_is_waited_for(checkpoints: Path) -> None:
    process = start(checkpoints, faults="ENOSPC@agent.write", is_compressing=True)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "the disk is full" in said
    assert names_in(checkpoints) == [f"step_{step}.pt" for step in STEPS]
    assert not list(checkpoints.glob(".*.tmp"))
    run(checkpoints)
    assert len(names_in(checkpoints)) == 2 * len(STEPS)


def test_sigterm_in_the_middle_of_a_file_leaves_nothing_half_done(checkpoints: Path) -> None:
    save(checkpoints, "step_50.pt", seed=50, num_bytes=80_000_000)
    process = start(checkpoints, is_once=False, level=19)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("step_100.pt:"):  # the newest come first: one is left, a large one
            break
    process.terminate()
    rest, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint
    assert "saved" in rest
    assert not list(checkpoints.glob(".*.tmp"))
    assert read_manifest(checkpoints / "step_50.pt.zst") is None


def test_a_damaged_file_of_the_agent_is_left_for_people_to_see(checkpoints: Path) -> None:
    run(checkpoints, keep=None)
    made = checkpoints / "step_100.pt.zst"
    flip(made, made.stat().st_size - 3)  # in the end that its manifest is found by
    run(checkpoints, keep=1)
    assert made.exists()
