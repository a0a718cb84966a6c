"""Agents to kill: in a process of their own, without a governor, waiting for nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from instride.agent.configuration import Configuration
from instride.faults import VARIABLE
from tests.unit.agent.agents import Lines, agent

ROOT = Path(__file__).parents[2]


class Printed(Lines):
    def line(self, text: str) -> None:
        print(text, flush=True)


def start(directory: Path, *, faults: str = "", is_once: bool = True, **settings: Any) -> Any:
    """An agent over a directory, with the settings of a `Configuration`."""
    raw = msgspec.json.encode({"keep": None, **settings}).decode()
    return subprocess.Popen(
        [sys.executable, "-m", "tests.crash.agents", str(directory), raw, str(int(is_once))],
        env={**os.environ, VARIABLE: faults},
        cwd=ROOT,
        # One that is killed does not give its session the weight back that it took from it.
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(directory: Path, **settings: Any) -> str:
    """An agent that ends by itself; what it printed."""
    process = start(directory, **settings)
    said, complaint = process.communicate(timeout=120)
    assert process.returncode == 0, complaint
    assert isinstance(said, str)
    return said


def killed(directory: Path, phase: str, **settings: Any) -> None:
    process = start(directory, faults=f"kill@{phase}", **settings)
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL, complaint


def main() -> None:
    directory, raw, is_once = sys.argv[1:]
    known = msgspec.structs.fields(Configuration)
    settings = {
        name: value
        for name, value in msgspec.json.decode(raw).items()
        if name in {field.name for field in known}
    }
    worker = agent(Path(directory), Printed(), **settings)
    signal.signal(signal.SIGTERM, lambda *_: worker.stop())
    worker.run(is_once=is_once == "1")


if __name__ == "__main__":
    main()
