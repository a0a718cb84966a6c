"""Kills trainers and writers at random, for thousands of times, and looks at the store after each.

`python -m tests.soak.kill_saver --kills 2000 --seed 1`: the same seed asks for the same kills;
moments within a process are the machine's own.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from instride.faults import ARRIVE_PHASE, TRAINER_PHASES, WRITER_PACK_PHASES, WRITER_PHASES
from tests.crash.checks import assert_sound, assert_swept, await_free
from tests.crash.trainings import NUM_VALUES
from tests.crash.zygote import Training, Zygote

SIZES = (1000, 1000, 1000, 300_000, NUM_VALUES)
MOST_STEPS = 6
LONGEST_S = 0.3
"""A moment for a kill is chosen from so many seconds after the restore."""
CLEAN_EVERY = 20
ROUNDS_OF_A_STORE = 100


class Rounds:
    """One store, and trainers that follow each other on it."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._dice = random.Random(seed)
        self._store = folder / "store"
        self._folder = folder
        self._zygote = Zygote()
        self._committed = 0
        self._newest_asked = 0
        self._num_values = self._dice.choice(SIZES)
        self._packs = self._dice.random() < 0.5
        self._arrives = self._dice.random() < 0.5
        self.num_rounds = 0
        self.num_kills = 0

    def play(self) -> None:
        """One trainer, from its start to its end; then the store is looked at."""
        self.num_rounds += 1
        once = self._folder / f"once-{self.num_rounds}"
        is_clean = self.num_rounds % CLEAN_EVERY == 0
        faults = "" if is_clean else self._faults()
        training = self._zygote.start(
            "train_on",
            faults=faults,
            once=once if self._dice.random() < 0.7 else None,
            store=self._store,
            num_steps=self._dice.randint(1, MOST_STEPS),
            keep=self._dice.randint(1, 3),
            num_values=self._num_values,
            pack=self._packs,
            arrives=self._arrives,
        )
        failure = self._watch(training, may_kill=not faults and not is_clean)
        status = training.wait()
        self.num_kills += (status == -signal.SIGKILL) + once.exists()
        once.unlink(missing_ok=True)
        assert status in (0, -signal.SIGKILL)
        if is_clean:
            assert (status, failure) == (0, None), "a training that nobody killed failed"
        if is_clean or self._dice.random() < 0.5:
            self._look(is_clean=is_clean)

    def _faults(self) -> str:
        """Where to kill; nothing for a moment of our own choice."""
        phases = (*WRITER_PHASES, *WRITER_PACK_PHASES) if self._packs else WRITER_PHASES
        writer = f"kill@{self._dice.choice(phases)}#{self._dice.randint(1, 3)}"
        ours = (*TRAINER_PHASES, *[ARRIVE_PHASE] * self._arrives)
        trainer = f"kill@{self._dice.choice(ours)}#{self._dice.randint(1, 3)}"
        return self._dice.choice([writer, trainer, f"{writer},{trainer}", "", ""])

    def _watch(self, training: Training, *, may_kill: bool) -> str | None:
        """Hear it to its end; why a save failed, if one did."""
        writer, failure = 0, None
        try:
            while True:
                kind, value = training.hear()
                if kind == "writer":
                    writer = value
                elif kind == "restored":
                    self._check_restored(value)
                    if may_kill:
                        self._kill_soon(training.pid, writer)
                elif kind == "committed":
                    self._committed = value
                else:
                    failure = value
        except (EOFError, ConnectionError):
            return failure

    def _check_restored(self, step: int) -> None:
        assert step >= self._committed, f"step {step} restored, and {self._committed} was committed"
        assert step <= self._newest_asked
        self._newest_asked = step + MOST_STEPS

    def _kill_soon(self, trainer: int, writer: int) -> None:
        victims = self._dice.choice([[trainer], [writer], [writer, trainer], [trainer, writer]])
        time.sleep(self._dice.random() * LONGEST_S)
        for pid in victims:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.num_kills += pid == writer

    def _look(self, *, is_clean: bool) -> None:
        if not (self._store / ".instride").exists():
            return
        await_free(self._store)
        newest = assert_sound(self._store) or 0
        assert newest >= self._committed, f"{self._committed} was committed, {newest} is newest"
        if is_clean:
            assert_swept(self._store)

    def close(self) -> None:
        self._zygote.close()


class Campaign:
    """Several stores at a time, until there were enough kills, a failure, or no time is left."""

    def __init__(self, num_kills: int, end_s: float) -> None:
        self._num_kills = num_kills
        self._end_s = end_s
        self._played: list[Rounds] = []
        self.failures: list[str] = []

    @property
    def killed(self) -> int:
        return sum(rounds.num_kills for rounds in self._played)

    @property
    def started(self) -> int:
        return sum(rounds.num_rounds for rounds in self._played)

    def _is_over(self) -> bool:
        return (
            self.killed >= self._num_kills or bool(self.failures) or time.monotonic() > self._end_s
        )

    def soak(self, seed: int) -> None:
        while not self._is_over():
            with tempfile.TemporaryDirectory() as folder:
                self._play(Rounds(seed, Path(folder)), seed)
            print(f"{self.killed} kills, {self.started} trainings", flush=True)
            seed += 1

    def _play(self, rounds: Rounds, seed: int) -> None:
        self._played.append(rounds)
        try:
            while rounds.num_rounds < ROUNDS_OF_A_STORE and not self._is_over():
                rounds.play()
        except BaseException:
            self.failures.append(f"seed {seed}, round {rounds.num_rounds}")
            raise
        finally:
            rounds.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stores", type=int, default=2, help="how many at a time")
    parser.add_argument("--minutes", type=float, default=60.0, help="at the most")
    asked = parser.parse_args()
    campaign = Campaign(asked.kills, time.monotonic() + 60 * asked.minutes)
    seeds = [asked.seed + 1_000_000 * number for number in range(asked.stores)]
    threads = [threading.Thread(target=campaign.soak, args=(seed,)) for seed in seeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(
        f"{campaign.killed} kills of trainers and writers, {campaign.started} trainings, "
        f"{len(campaign.failures)} failures {' '.join(campaign.failures)}"
    )
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    sys.exit(main())
