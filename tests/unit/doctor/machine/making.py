"""Made-up landings and processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from instride.doctor.machine.activity import Activity, Sample
from instride.doctor.machine.landings import Landing
from instride.doctor.machine.programs import Trade
from instride.doctor.machine.sizes import Checkpoint
from instride.system.filesystems import Kind
from instride.system.mounts import Mount

GB = 1_000_000_000
LANDING = Landing(
    path=Path("/data/out"),
    folder=Path("/data/out"),
    mount=Mount("/data", "ext4", "/dev/sdb1", ("rw",), device="8:17"),
    kind=Kind.LOCAL,
    free_bytes=500 * GB,
    total_bytes=1000 * GB,
    num_free_inodes=10_000_000,
    largest=None,
)
ACTIVITY = Activity(
    pid=os.getpid(),
    name="python",
    trade=Trade.OTHER,
    cores=1.0,
    io_bytes_per_s=0.0,
    nice=0,
    is_idle_class=False,
    io_class=0,
    folder="/somewhere/else",
    age_s=3600.0,
)


def a_landing(**changes: Any) -> Landing:
    return msgspec.structs.replace(LANDING, **changes)


def a_process(**changes: Any) -> Activity:
    return msgspec.structs.replace(ACTIVITY, **changes)


def a_sample(*processes: Activity) -> Sample:
    return Sample(0.5, processes, 0, None)


def a_checkpoint(num_bytes: int) -> Checkpoint:
    return Checkpoint("/data/out/step_100.pt", num_bytes, 0.0)
