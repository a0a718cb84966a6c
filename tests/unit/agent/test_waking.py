"""Events wake; where there are none, or none are heard, the next look comes all the same."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from instride.agent.waking import Waker, can_watch, has_events
from instride.agent.wholeness import FIRST_PID_NAMESPACE, unseen_writers

PATIENCE_S = 60.0
MOUNTS = """\
20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 0:30 / /mnt/nfs rw - nfs4 server:/data rw
22 20 0:31 / /mnt/shared rw - 9p share rw,trans=virtio
23 20 0:32 / /mnt/objects rw - fuse.s3fs bucket rw
24 20 0:33 / /mnt/memory rw - tmpfs tmpfs rw
"""


def test_a_new_file_wakes(tmp_path: Path) -> None:
    assert can_watch()
    waker = Waker()
    waker.watch([tmp_path])
    begun_s = time.monotonic()
    number = 0
    while time.monotonic() - begun_s < PATIENCE_S:
        number += 1
        (tmp_path / f"step_{number}.pt").write_bytes(b"x")  # the watch may not have begun yet
        before_s = time.monotonic()
        waker.wait(5.0)
        if time.monotonic() - before_s < 5.0:
            break
    else:
        pytest.fail("nothing wakes it")
    waker.close()


def test_a_directory_that_is_made_anew_is_watched_anew(tmp_path: Path) -> None:
    directory = tmp_path / "checkpoints"
    waker = Waker()
    waker.watch([directory])  # not there: nothing to watch, and no error
    waker.wake()
    waker.wait(PATIENCE_S)
    directory.mkdir()
    waker.watch([directory])
    directory.rmdir()
    directory.mkdir()
    waker.watch([directory])
    waker.close()
    waker.close()


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A machine with several filesystems, seen from outside of any container."""
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "self/mountinfo").write_text(MOUNTS)
    return tmp_path


@pytest.mark.parametrize(
    ("directory", "is_heard"),
    [
        ("/data/run", True),
        ("/mnt/memory/run", True),
        ("/mnt/nfs/run", False),
        ("/mnt/shared/run", False),
        ("/mnt/objects/run", False),
    ],
)
def test_network_and_shared_filesystems_are_looked_at_instead(
    proc: Path, directory: str, is_heard: bool
) -> None:
    assert has_events(Path(directory), proc / "self/mountinfo") == is_heard
    why = unseen_writers(Path(directory), 0, proc)
    assert is_heard == (why != f"{_type_of(directory)} may be written from another machine")


def _type_of(directory: str) -> str:
    return {"nfs": "nfs4", "shared": "9p", "objects": "fuse.s3fs"}.get(directory.split("/")[2], "")


def test_inside_of_a_container_others_may_be_out_of_sight(proc: Path) -> None:
    namespace = proc / "self/ns/pid"
    namespace.write_text("")
    assert namespace.stat().st_ino != FIRST_PID_NAMESPACE
    assert "outside of this container" in (unseen_writers(Path("/data"), 0, proc) or "")
