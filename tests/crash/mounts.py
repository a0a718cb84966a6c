"""Small filesystems of our own, where the machine lets us make them."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(kind: str, where: Path, num_bytes: int) -> Iterator[Path]:
    """An empty filesystem of that size; the test is skipped where none can be made."""
    where.mkdir()
    if kind == "tmpfs":
        _run(["mount", "-t", "tmpfs", "-o", f"size={num_bytes}", "tmpfs", str(where)])
    else:
        image = where.with_suffix(".image")
        with image.open("wb") as file:
            file.truncate(num_bytes)
        _run([f"mkfs.{kind}", "-q", "-m", "0", "-O", "^has_journal", str(image)])
        _run(["mount", "-o", "loop,errors=remount-ro", str(image), str(where)])
    try:
        yield where
    finally:
        # Whoever could mount can do this: a failure here is one, and no reason to skip.
        subprocess.run(["umount", "--lazy", str(where)], check=True)


def remount(where: Path, option: str) -> None:
    """`ro` or `rw`."""
    _run(["mount", "-o", f"remount,{option}", str(where)])


def break_down(where: Path) -> None:
    """Let an ext4 find an error in itself: from then on it is read-only, whatever is open."""
    device = Path(_run(["findmnt", "--noheadings", "--output", "SOURCE", str(where)]).strip())
    trigger = Path("/sys/fs/ext4") / device.name / "trigger_fs_error"
    if not trigger.exists():  # not every kernel, nor every container, shows it
        pytest.skip(f"this kernel has no {trigger}, with which an ext4 is broken on purpose")
    trigger.write_text("by the test")


def _run(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"the program {command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:  # most containers, and whoever is not root, may not mount anything
        pytest.skip(f"`{shlex.join(command)}` is not possible here: {done.stderr.strip()}")
    return done.stdout
