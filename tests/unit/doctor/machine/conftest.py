"""Real mounts and real processes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_mount(tmp_path: Path) -> Iterator[Path]:
    """A real filesystem of 4 MB and 64 files, in memory."""
    point = tmp_path / "small"
    point.mkdir()
    options = "size=4m,nr_inodes=64"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(point)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nothing may be mounted here")
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=True)
