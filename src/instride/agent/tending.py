"""One directory: looked at, taken care of, and looked at again.

Each look decides anew from what lies there, so that it does not matter where an earlier agent was
when it was killed. Steps that change something are taken one at a time.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from instride.agent.arrivals import Arrivals
from instride.agent.care import Care, Tally
from instride.agent.configuration import Configuration
from instride.agent.looking import Look, Looking, Original
from instride.agent.owning import Ownership
from instride.agent.pacing import Governing
from instride.agent.proving import Proofs
from instride.agent.remembering import Memory
from instride.agent.retaining import Retaining
from instride.agent.settling import Settling
from instride.agent.shrinking import Shrinking
from instride.agent.sweeping import sweep
from instride.agent.telling import Reporter, Teller
from instride.errors import StoreInUseError
from instride.faults import reached

LOST_S = 2.0
"""A directory whose lock has vanished is being deleted: nothing is made in it for so long."""
FULL = {errno.ENOSPC, errno.EDQUOT}


class Tending:
    """Takes care of one directory."""

    def __init__(
        self,
        directory: Path,
        configuration: Configuration,
        governing: Governing,
        reporter: Reporter,
        tick: Callable[[], None],
    ) -> None:
        self.directory = directory
        self.teller = Teller(directory, reporter)
        self.others_prune = False
        """Files vanished that the agent did not delete."""
        self.is_settling = False
        """Whether it pays to look again soon."""
        self.being_written: list[str] = []
        self._configuration = configuration
        self._governing = governing
        self._ownership = Ownership(directory)
        self._arrivals = Arrivals()
        self._tick = tick
        self._held_s = float("-inf")
        self.tally = Tally()
        self._begin()

    def _begin(self) -> None:
        """Know nothing but what was written down."""
        pattern = self._configuration.pattern
        self._looking = Looking(self.directory, pattern)
        self._settling = Settling(self.directory)
        self._memory = Memory(self.directory)
        care = Care(
            self.directory,
            self._configuration,
            self._governing,
            self.teller,
            self._memory,
            self._arrivals,
            Proofs(self._governing.gentle, self._tick),
            self.tally,
            self._tick,
        )
        self.shrinking = Shrinking(care)
        self._retaining = Retaining(care)

    def claim(self) -> bool:
        """Own the directory. Raises StoreInUseError where somebody who lives does."""
        if self._ownership.is_held:
            self._held_s = time.monotonic()
            return True
        if time.monotonic() < self._held_s + LOST_S:
            return False
        if not self.directory.is_dir():
            text = f"{self.directory} is not there yet: waiting for it"
            self.teller.tell_once("absent", "waits", text)
            return False
        if not self._ownership.take():
            text = f"{self.directory}: waiting for a writer that finishes what a training left"
            self.teller.tell_once("writer", "waits", text)
            return False
        self._begin()
        self._held_s = time.monotonic()
        self.teller.forget("absent")
        self.others_prune = False
        reached("agent.locked")
        self.teller.tell("start", f"watching {self.directory}: {plan(self._configuration)}")
        for name in sweep(self.directory, self._configuration.pattern):
            self.teller.tell("swept", f"removed {name}, left by an agent that was killed")
        return True

    def tend(self) -> bool:
        """Do the next thing that is to be done; False if there is nothing.

        Raises StoppedError when it is called off, OSError if the directory cannot be looked at.
        """
        try:
            if not self.claim():
                return False
        except StoreInUseError as error:
            self.teller.tell_once("taken", "waits", str(error))
            return False
        try:
            return self._tend()
        except OSError as error:
            if error.errno not in FULL or not self._ownership.is_held:
                raise
            return False  # what could not be noted down now will be at the next look

    def keep_order(self) -> None:
        """What must not wait while a file is worked on: look, prune, and call off what nobody
        wants any more."""
        if not self._ownership.is_held:
            return
        with suppress(OSError):
            seen, _ = self._survey()
            while self._retaining.prune(seen, only_made=self.others_prune):
                seen, _ = self._survey()
            self.shrinking.reconsider(seen)

    def _tend(self) -> bool:
        seen, whole = self._survey()
        if self._retaining.prune(seen, only_made=self.others_prune):
            return True
        return self.shrinking.shrink_next(seen, whole)

    def _survey(self) -> tuple[Look, dict[str, Original]]:
        """What lies there, and which originals are whole."""
        seen = self._looking.look()
        self._notice_vanished(seen)
        verdicts = self._settling.judge(seen, dict(self._memory.files))
        self.is_settling = verdicts.is_settling
        self.being_written = verdicts.being_written
        self._governing.trainers.saw(verdicts.trainers)
        if verdicts.is_settling and verdicts.unseen:
            text = f"a new file is touched when it stays as it is for a while: {verdicts.unseen}"
            self.teller.tell_once("unseen", "note", text)
        for name in verdicts.halves:
            text = f"{name} is not whole, and nobody writes to it: left alone"
            self.teller.tell_once(f"half {name}", "left", text, name=name)
        self._memory.take_in(verdicts.whole, seen)
        self._arrivals.saw((each.path.name, each.identity.mtime_ns) for each in verdicts.whole)
        self._arrivals.saw(_made(seen))  # of originals that may be gone by now
        self._memory.forget(seen)
        self._memory.write()
        reached("agent.looked")
        return seen, {each.path.name: each for each in verdicts.whole}

    def _notice_vanished(self, seen: Look) -> None:
        names = self._memory.vanished(seen)
        if not names:
            return
        what = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        keeps = self._configuration.keep is not None
        then = "; from now on the agent deletes only what it made itself" if keeps else ""
        self.others_prune = True
        self.teller.tell_once(
            "others-prune",
            "others-prune",
            f"{what} vanished, and the agent did not delete it: somebody else prunes{then}",
            names=names,
        )

    @property
    def is_blocked(self) -> bool:
        """Whether something waits for room on the disk."""
        return self.shrinking.retry_at_s > time.monotonic()

    @property
    def is_owned(self) -> bool:
        return self._ownership.is_held

    def close(self) -> None:
        self._ownership.release()


def _made(seen: Look) -> Iterator[tuple[str, int]]:
    """Originals that something was made of, each as old as what was made of it."""
    for name, forms in seen.forms.items():
        for form in forms:
            yield name, form.identity.mtime_ns


def plan(configuration: Configuration) -> str:
    """What is going to be done, in a few words."""
    parts = []
    if configuration.is_compressing:
        level = "" if configuration.format == "pack" else f" {configuration.level}"
        removes = ", originals removed" if configuration.removes_original else ""
        parts.append(f"{configuration.pattern} to {configuration.format}{level}{removes}")
    if configuration.keep is not None:
        parts.append(f"the newest {configuration.keep} kept")
    return "; ".join(parts) or "nothing to do: no compression, everything kept"
