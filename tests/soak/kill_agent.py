"""Kills agents at random beside a script that saves and prunes, and looks at the files after each.

`python -m tests.soak.kill_agent --kills 300 --seed 1`: the same seed asks for the same kills;
moments within a process are the machine's own.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from instride.faults import AGENT_PHASES
from instride.framed.reading import open_framed
from instride.pack.reading import PackFile
from instride.store.verifying import verify
from tests.crash.agents import start
from tests.unit.agent.agents import checkpoint_bytes, names_in

LONGEST_S = 3.0
"""A moment for a kill is chosen from so many seconds after the start."""
ROUNDS_OF_A_DIRECTORY = 30
SIZES = (20_000, 300_000, 9_000_000)
FORMATS = ("zstd", "zstd", "lz4", "pack")


class Rounds:
    """One directory, a script that saves there, and agents that follow each other."""

    def __init__(self, seed: int, directory: Path) -> None:
        self._dice = random.Random(seed)
        self._directory = directory
        self._num_bytes = self._dice.choice(SIZES)
        self._script_prunes = self._dice.random() < 0.3
        self._settings: dict[str, Any] = {
            "keep": self._dice.choice([None, 1, 2, 3]),
            "format": self._dice.choice(FORMATS),
            "removes_original": self._dice.random() < 0.5,
            "interval_s": 0.05,
        }
        self._step = 0
        self.num_kills = 0

    def play(self) -> None:
        """One agent, from its start to a kill; then the files are looked at."""
        fault = ""
        if self._dice.random() < 0.5:
            fault = f"kill@{self._dice.choice(AGENT_PHASES)}#{self._dice.randint(1, 2)}"
        agent = start(self._directory, faults=fault, is_once=False, **self._settings)
        end_s = time.monotonic() + self._dice.random() * LONGEST_S
        while time.monotonic() < end_s and agent.poll() is None:
            self._save()
            time.sleep(self._dice.random() * 0.3)
        agent.kill()
        _, complaint = agent.communicate()
        assert agent.returncode == -signal.SIGKILL, complaint
        self.num_kills += 1
        self._look()

    def finish(self) -> None:
        """An agent that nobody kills leaves order."""
        self._save()
        agent: subprocess.Popen[str] = start(self._directory, **self._settings)
        _, complaint = agent.communicate(timeout=300)
        assert agent.returncode == 0, complaint
        self._look()
        assert not list(self._directory.glob(".*.tmp"))
        keep = self._settings["keep"]
        saved = {name.partition(".pt")[0] for name in names_in(self._directory)}
        assert keep is None or self._script_prunes or len(saved) <= keep, saved

    def _save(self) -> None:
        """As scripts do: in place and slowly, or under another name first."""
        self._step += 1
        data = checkpoint_bytes(self._step, self._num_bytes)
        path = self._directory / f"step_{self._step}.pt"
        if self._dice.random() < 0.5:
            middle = self._dice.randrange(len(data))
            with path.open("wb", buffering=0) as file:
                file.write(data[:middle])
                time.sleep(self._dice.random() * 0.05)
                file.write(data[middle:])
        else:
            temporary = path.with_suffix(".tmp")
            temporary.write_bytes(data)
            temporary.rename(path)
        if self._script_prunes:
            (self._directory / f"step_{self._step - 4}.pt").unlink(missing_ok=True)

    def _look(self) -> None:
        """Every name leads to what was saved; the newest is there, in one form or another."""
        steps = set()
        for name in names_in(self._directory):
            path = self._directory / name
            step = int(name.removeprefix("step_").partition(".")[0])
            assert _content(path) == checkpoint_bytes(step, self._num_bytes), name
            if path.suffix != ".pt":
                verify(path)
            steps.add(step)
        assert self._step in steps, f"step {self._step} is lost"


def _content(path: Path) -> bytes:
    if path.suffix == ".pt":
        return path.read_bytes()
    with PackFile(path) if path.suffix == ".pack" else open_framed(path) as file:
        return file.read() or b""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0, help="at the most")
    asked = parser.parse_args()
    end_s = time.monotonic() + 60 * asked.minutes
    seed, num_kills = asked.seed, 0
    while num_kills < asked.kills and time.monotonic() < end_s:
        with tempfile.TemporaryDirectory() as folder:
            rounds = Rounds(seed, Path(folder))
            while rounds.num_kills < ROUNDS_OF_A_DIRECTORY and time.monotonic() < end_s:
                try:
                    rounds.play()
                except BaseException:
                    print(f"seed {seed}, kill {rounds.num_kills}")
                    raise
            rounds.finish()
        num_kills += rounds.num_kills
        seed += 1
        print(f"{num_kills} kills of agents, none lost anything", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
