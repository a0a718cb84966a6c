"""Real processes that are busy, or asleep, until they are told to stop."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SPIN = """
import os, sys
nice, path, mode = int(sys.argv[1]), sys.argv[2], sys.argv[3]
if nice:
    os.nice(nice)
file = open(path, mode) if path else None
print("ready", flush=True)
while True:
    pass
"""


@contextmanager
def busy(
    script: Path, nice: int = 0, opened: str = "", mode: str = "rb", new_session: bool = False
) -> Iterator[int]:
    """A busy process by the name of a script; its number."""
    script.write_text(SPIN)
    child = subprocess.Popen(
        [sys.executable, str(script), str(nice), opened, mode],
        stdout=subprocess.PIPE,
        start_new_session=new_session,
        cwd=os.sep,
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"ready\n"
        yield child.pid
    finally:
        child.kill()
        child.communicate()


@contextmanager
def asleep() -> Iterator[int]:
    """A process that does nothing; its number."""
    sleep = "import time; print('ready', flush=True); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", sleep], stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"ready\n"
        yield child.pid
    finally:
        child.kill()
        child.communicate()
