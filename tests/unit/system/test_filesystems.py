"""Kinds of filesystems, by made-up lines of mountinfo as real systems write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.system.filesystems import Kind, is_remote, kind_of
from instride.system.mounts import Mount, mount_of

ROOT = "1 0 8:1 / / rw - ext4 /dev/sda1 rw"
LINES = [
    (r"- 9p C:\134 rw,aname=drvfs;path=C:\134;uid=1000,cache=5,trans=fd", Kind.WINDOWS),
    ("- drvfs C: rw,case=off", Kind.WINDOWS),
    ("- virtiofs drvfsaC rw", Kind.WINDOWS),
    ("- 9p hostshare rw,trans=virtio", Kind.HOST),
    ("- virtiofs share rw", Kind.HOST),
    ("- fakeowner /run/host_mark/Users rw", Kind.HOST),
    ("- nfs4 server:/export rw,vers=4.2,hard", Kind.NETWORK),
    ("- cifs //server/share rw,vers=3.1.1", Kind.NETWORK),
    ("- lustre 10.0.0.1@o2ib:/scratch rw", Kind.NETWORK),
    ("- fuse.sshfs user@host:/data rw", Kind.NETWORK),
    ("- fuse.gcsfuse bucket rw", Kind.OBJECTS),
    ("- fuse.drive drive rw", Kind.OBJECTS),
    ("- fuse.somebodys thing rw", Kind.FUSE),
    ("- fuseblk /dev/sdc1 rw", Kind.LOCAL),
    ("- overlay overlay rw,lowerdir=/a,upperdir=/b,workdir=/c", Kind.LAYER),
    ("- tmpfs tmpfs rw,size=65536k", Kind.MEMORY),
    ("- ext4 /dev/zram0 rw", Kind.MEMORY),
    ("- ext4 /dev/nvme0n1p2 rw", Kind.LOCAL),
    ("- btrfs /dev/sda3 rw,subvol=/home", Kind.LOCAL),
    ("- newfs /dev/sda3 rw", Kind.UNKNOWN),
]


@pytest.mark.parametrize(("line", "kind"), LINES, ids=[line[2:24] for line, _ in LINES])
def test_a_line_of_mountinfo_tells_the_kind(tmp_path: Path, line: str, kind: Kind) -> None:
    file = tmp_path / "mountinfo"
    file.write_text(f"{ROOT}\n2 1 0:50 / /ckpt rw,relatime {line}\n")
    found = mount_of("/ckpt/run", file)
    assert found is not None
    assert kind_of(found) is kind


@pytest.mark.parametrize(
    ("type", "kind"), [("apfs", Kind.LOCAL), ("NTFS", Kind.LOCAL), ("smbfs", Kind.NETWORK)]
)
def test_other_systems_call_theirs_by_other_names(type: str, kind: Kind) -> None:
    assert kind_of(Mount("/", type, "somewhere", ())) is kind


def test_remote_is_what_leaves_the_system() -> None:
    remote = {kind for kind in Kind if is_remote(kind)}
    assert remote == {Kind.WINDOWS, Kind.HOST, Kind.NETWORK, Kind.OBJECTS}
