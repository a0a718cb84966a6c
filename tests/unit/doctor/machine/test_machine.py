"""The machine as a whole, as it is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from instride.doctor.catalogue import CATALOGUE, About
from instride.doctor.languages import LANGUAGES
from instride.doctor.machine import disks, examine_machine, landings
from instride.doctor.machine.examining import DISKS, GPUS, MEMORY, PROCESSES
from instride.doctor.machine.landings import SilentError
from instride.doctor.machine.parts import say_processes
from instride.doctor.machine.probing import Probed
from instride.doctor.model import Certainty, Unknown
from instride.doctor.request import Request
from instride.system.mounts import Mount
from tests.unit.doctor.machine.making import a_sample
from tests.unit.doctor.saying import said


def say_all(unknown: list[Unknown]) -> set[str]:
    """Say them in all languages; their ids."""
    assert all(words.unknown(each) for each in unknown for words in LANGUAGES.values())
    return {each.id for each in unknown}


def test_every_rule_of_the_machine_belongs_to_a_part() -> None:
    rules = {rule.id for rule in CATALOGUE if rule.about is About.MACHINE}
    assert rules == {*DISKS, *GPUS, *MEMORY, *PROCESSES}


def test_this_machine_is_examined_and_left_as_it_was(tmp_path: Path) -> None:
    findings, unknown = examine_machine(Request(checkpoints=(tmp_path / "out",)))
    assert all(said(finding) and finding.fixes and finding.evidence for finding in findings)
    assert "rule-failed" not in say_all(unknown)
    assert list(tmp_path.iterdir()) == []


def test_without_probes_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disks, "probe", pytest.fail)
    examine_machine(Request(checkpoints=(tmp_path,), probe=False))
    examine_machine(Request(checkpoints=(tmp_path,), only=("few-inodes",)))
    examine_machine(Request(checkpoints=(tmp_path,)), longest_s=0.1)


def test_only_what_was_asked_for_is_told(small_mount: Path) -> None:
    request = Request(checkpoints=(small_mount,), only=("few-inodes",))
    findings, unknown = examine_machine(request)
    assert [each.rule for each in findings] == ["few-inodes"]
    assert unknown == []


def test_a_small_mount_in_memory_is_told_in_every_way(small_mount: Path) -> None:
    (small_mount / "step_1.pt").write_bytes(bytes(3_000_000))
    findings, unknown = examine_machine(Request(checkpoints=(small_mount,), only=DISKS))
    assert {each.rule for each in findings} == {
        "volatile-checkpoints",
        "little-space",
        "few-inodes",
    }
    assert say_all(unknown) == {"not-measured"}


def test_what_cannot_be_looked_at_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(path: Path, patience_s: float) -> None:
        if path.name == "silent":
            raise SilentError
        if path.name == "secret":
            raise PermissionError(13, "Permission denied", str(path))
        if path.name == "broken":
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(disks, "look_at", look)
    paths = tuple(tmp_path / name for name in ("silent", "broken", "unknown", "secret"))
    findings, unknown = examine_machine(Request(checkpoints=paths, only=DISKS))
    assert [each.rule for each in findings] == ["checkpoints-not-writable"]
    assert say_all(unknown) == {"silent-filesystem", "unreadable-path", "unknown-filesystem"}


def test_a_part_that_fails_costs_the_others_nothing(
    small_mount: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr("instride.doctor.machine.examining.say_gpus", fail)
    findings, unknown = examine_machine(
        Request(checkpoints=(small_mount,), only=("few-inodes", "gpu-shared"))
    )
    assert [each.rule for each in findings] == ["few-inodes"]
    assert say_all(unknown) == {"rule-failed"}


WINDOWS = Mount("/mnt/c", "9p", "C:\\", ("rw", "aname=drvfs;path=C:\\"), device="0:50")
SERVER = Mount("/data", "nfs4", "server:/data", ("rw", "vers=4.2"), device="0:51")


@pytest.mark.parametrize(
    ("mount", "probed", "certainty"),
    [
        (WINDOWS, None, Certainty.LIKELY),
        (WINDOWS, Probed(2e9, None), Certainty.LIKELY),
        (SERVER, None, Certainty.PERHAPS),
        (SERVER, Probed(2e9, None), None),
    ],
    ids=["windows-unmeasured", "windows-fast", "server-unmeasured", "server-fast"],
)
def test_a_remote_filesystem_is_told_unless_it_was_measured_to_be_fast(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mount: Mount,
    probed: Probed | None,
    certainty: Certainty | None,
) -> None:
    monkeypatch.setattr(landings, "mount_of", lambda _: mount)
    monkeypatch.setattr(disks, "probe", lambda folders, _: [probed for _ in folders])
    request = Request(
        checkpoints=(tmp_path,), only=("remote-checkpoint-disk",), probe=probed is not None
    )
    findings, _ = examine_machine(request)
    assert [each.certainty for each in findings] == ([certainty] if certainty else [])


@pytest.mark.parametrize(("user", "told"), [(0, "hidden-from-root"), (1000, "hidden-processes")])
def test_root_is_not_told_that_it_needs_more_rights(
    monkeypatch: pytest.MonkeyPatch, user: int, told: str
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    sample = msgspec.structs.replace(a_sample(), num_hidden=2)
    unknown = [each for each in say_processes(sample, [], [], []) if isinstance(each, Unknown)]
    assert say_all(unknown) == {told}
