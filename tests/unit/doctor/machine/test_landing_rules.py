"""Rules on where checkpoints land."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from instride.doctor.machine.alternatives import alternative_to, local_disks, moving
from instride.doctor.machine.landing_rules import check_lasting, check_remote, check_writable
from instride.doctor.machine.landings import look_at
from instride.doctor.model import Certainty
from instride.reasons import Reason
from instride.system.filesystems import Kind
from instride.system.mounts import Mount
from tests.unit.doctor.machine.making import GB, a_checkpoint, a_landing
from tests.unit.doctor.saying import said


def test_checkpoints_in_memory_are_told(small_mount: Path) -> None:
    landing = look_at(small_mount / "out")
    assert landing is not None
    [finding] = check_lasting(landing, None)
    assert (finding.rule, finding.certainty) == ("volatile-checkpoints", Certainty.SURE)
    assert str(small_mount) in said(finding)["en"]


def test_checkpoints_in_the_layer_of_a_container_are_told() -> None:
    [finding] = check_lasting(a_landing(kind=Kind.LAYER), None)
    assert (finding.rule, finding.certainty) == ("container-checkpoints", Certainty.LIKELY)
    assert "docker run --volume ./checkpoints:/data/out" in finding.fixes[0].text
    assert said(finding)


@pytest.mark.parametrize("kind", [Kind.LOCAL, Kind.NETWORK, Kind.UNKNOWN])
def test_disks_and_servers_last(kind: Kind) -> None:
    assert list(check_lasting(a_landing(kind=kind), None)) == []


@pytest.mark.parametrize(
    ("kind", "certainty"),
    [
        (Kind.WINDOWS, Certainty.LIKELY),
        (Kind.OBJECTS, Certainty.LIKELY),
        (Kind.NETWORK, Certainty.PERHAPS),
        (Kind.HOST, Certainty.PERHAPS),
        (Kind.FUSE, Certainty.PERHAPS),
    ],
)
def test_what_leaves_the_machine_is_told(kind: Kind, certainty: Certainty) -> None:
    [finding] = check_remote(a_landing(kind=kind), None)
    assert (finding.rule, finding.certainty) == ("remote-checkpoint-disk", certainty)
    assert said(finding)


@pytest.mark.parametrize("kind", [Kind.LOCAL, Kind.MEMORY, Kind.LAYER, Kind.UNKNOWN])
def test_what_stays_here_or_is_unknown_is_not_called_remote(kind: Kind) -> None:
    assert list(check_remote(a_landing(kind=kind), None)) == []


def test_a_mount_that_is_read_only_is_told() -> None:
    mount = Mount("/data", "ext4", "/dev/sdb1", ("ro", "relatime"))
    [finding] = check_writable(a_landing(mount=mount))
    assert finding.rule == "checkpoints-not-writable"
    assert "Read-only" in said(finding)["en"]


def test_a_file_in_the_place_of_a_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    landing = look_at(tmp_path / "out")
    assert landing is not None
    [finding] = check_writable(landing)
    assert finding.facts["error"] == Reason("os.ENOTDIR")
    assert "kein Verzeichnis" in said(finding)["de"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows keeps permissions elsewhere")
def test_a_directory_without_permission_is_told() -> None:
    """Asked by somebody without privileges: root may write everywhere."""
    code = (
        "import os; from pathlib import Path; from instride.doctor.machine.landings import look_at;"
        "from instride.doctor.machine.landing_rules import check_writable;"
        "os.getuid() or os.setuid(65534);"
        "print([each.facts['error'].name for each in check_writable(look_at(Path('/etc/out')))])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert done.stdout.strip() == b"['os.EACCES']"


def test_a_directory_that_can_be_written_to_is_left_alone(tmp_path: Path) -> None:
    landing = look_at(tmp_path / "out")
    assert landing is not None
    assert list(check_writable(landing)) == []


def test_an_alternative_is_another_disk_with_room() -> None:
    landing = a_landing(largest=a_checkpoint(10 * GB))
    other = a_landing(mount=Mount("/fast", "ext4", "/dev/sda1", (), device="8:1"))
    bound = a_landing(mount=Mount("/again", "ext4", "/dev/sdb1", (), device="8:17"))
    full = a_landing(mount=other.mount, free_bytes=20 * GB)
    assert alternative_to(landing, [bound, full, other]) is other
    assert alternative_to(landing, [bound, full]) is None


def test_local_disks_are_real_ones_that_can_be_written_to() -> None:
    disks = local_disks(None)
    assert all(disk.kind is Kind.LOCAL and os.access(disk.folder, os.W_OK) for disk in disks)


def test_moving_keeps_the_old_name(tmp_path: Path) -> None:
    (tmp_path / "old disk" / "out").mkdir(parents=True)
    (tmp_path / "old disk" / "out" / "step_1.pt").write_text("saved")
    (tmp_path / "new").mkdir()
    old = a_landing(path=tmp_path / "old disk" / "out")
    assert os.system(moving(old, a_landing(folder=tmp_path / "new")).text) == 0
    assert (tmp_path / "new" / "out" / "step_1.pt").read_text() == "saved"
    assert (tmp_path / "old disk" / "out" / "step_1.pt").read_text() == "saved"
