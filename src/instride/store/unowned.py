"""Unfinished files of `instride.save`, which owns no directory: their names tell whose they are.

`.instride.<8 digits>.<place>-<pid>-<start>.tmp`: the place is a machine, since it was started, and
a namespace of pids in it. Only there it can be told whether that process still lives.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil
from blake3 import blake3

from instride.store.lock import is_running, started_at

NAME = re.compile(r"\.instride\.[0-9a-f]{8}\.([0-9a-f]{16})-([0-9]{1,10})-([0-9]{1,20})\.tmp")
BOOT = Path("/proc/sys/kernel/random/boot_id")
PIDS = Path("/proc/self/ns/pid")


def temporary_of_ours(directory: Path) -> Path:
    """A name for an unfinished file of this process."""
    pid = os.getpid()
    whose = f"{_place()}-{pid}-{started_at(pid) or 0}"
    return directory / f".instride.{secrets.token_hex(4)}.{whose}.tmp"


def sweep_dead(directory: Path) -> list[str]:
    """Delete what processes of ours left that are gone; what anybody else has stays as it is."""
    swept = []
    with suppress(OSError):
        for path in directory.iterdir():
            if _is_left(path):
                path.unlink()
                swept.append(path.name)
    return swept


def _is_left(path: Path) -> bool:
    match = NAME.fullmatch(path.name)
    if match is None or match[1] != _place():
        return False
    # Processes of other users may be hidden, and would look dead.
    is_ours = not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()
    return is_ours and not is_running(int(match[2]), int(match[3]))


@cache
def _place() -> str:
    if BOOT.exists():
        parts = [BOOT.read_text(), str(PIDS.readlink())]
    else:
        parts = [str(int(psutil.boot_time()))]
    return blake3("\n".join([socket.gethostname(), *parts]).encode()).hexdigest()[:16]
