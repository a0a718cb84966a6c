"""How the process that writes is started."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import msgspec

import instride
from instride.system.cores import leave_core_of_parent

UNWANTED = {"LD_PRELOAD", "PYTHONPROFILEIMPORTTIME"}
"""What would make a small process large or slow."""


def start_writer(errors_fd: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A new writer, and our end of the line to it. OSError without memory or descriptors."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with theirs, ExitStack() as undoing:
        undoing.callback(ours.close)
        # A process group of its own: Ctrl-C is the trainer's alone. Not a session: that would
        # be an autogroup of its own too, in which the idle class means nothing, as the
        # scheduler shares the machine between groups first.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "instride.writer", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            process_group=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors_fd,
            cwd="/",
            env=_environment(),
        )
        leave_core_of_parent(process.pid)
        undoing.pop_all()
    return process, ours


def _environment() -> dict[str, str]:
    """The trainer's own, but for where modules are found."""
    kept = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    return kept | {"PYTHONPATH": os.pathsep.join(_module_paths())}


def _module_paths() -> list[str]:
    """Where the trainer finds modules, in another order: a file of the user's that is called as
    something that the writer needs is the trainer's affair."""
    standard = sysconfig.get_path("stdlib")
    ours = {_home_of(instride), _home_of(msgspec)}

    def rank(path: str) -> int:
        is_standard = path.startswith(standard) and not path.endswith("-packages")
        return 0 if is_standard else 1 if path in ours else 2

    return sorted((str(Path(path).absolute()) for path in sys.path), key=rank)


def _home_of(package: ModuleType) -> str:
    assert package.__file__ is not None
    return str(Path(package.__file__).absolute().parents[1])
