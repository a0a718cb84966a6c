"""What a manifest says of a file, from what the trainer sent of it."""

from __future__ import annotations

import time
from pathlib import Path

from instride.store.manifest import Manifest, Timings
from instride.store.naming import Written
from instride.writer.protocol import Finish


def manifest_of(path: Path, finish: Finish, written: Written, serial: int) -> Manifest:
    """The manifest of a file that is durable as of now."""
    return Manifest(
        name=path.name,
        token=written.token,
        size_bytes=written.size_bytes,
        pieces=written.pieces,
        created_s=finish.created_s,
        serial=serial,
        step=finish.step,
        metric=finish.metric,
        unsafe=finish.unsafe,
        timings=Timings(
            finish.call_s,
            finish.waited_s,
            max(0.0, finish.staged_s - finish.called_s),
            max(0.0, time.monotonic() - finish.called_s),
        ),
        versions=finish.versions,
    )
