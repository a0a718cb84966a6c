"""Orbax, the checkpoint library of JAX trainers: what it says of a save, in all its versions."""

from __future__ import annotations

import re
from typing import NamedTuple

SECONDS = r"(?:\. Time taken:| in) (?P<{}>\d{{1,9}}(?:\.\d{{1,9}})?) ?s"
MESSAGE = re.compile(
    r"Saving checkpoint at step (?P<step>\d{1,15})\b"
    r"|(?:Finished (?:blocking|synchronous) save|\[sync\] Finished save)"
    + SECONDS.format("blocked")
    + r"|(?:Finished async(?:hronous |_)save \(blocking \+ background\)|\[async\] Finished save)"
    + SECONDS.format("whole")
)


class Save(NamedTuple):
    """What training waited for a save; or, if it is whole, what that took in the background too."""

    step: int | None
    seconds: float
    line: int
    is_whole: bool = False


class OrbaxSaves:
    """Puts the lines of one save together."""

    def __init__(self) -> None:
        self.begun: tuple[int, int] | None = None
        """Step and line of a save that has begun and not come back yet."""

    def feed(self, number: int, line: str) -> Save | None:
        """Take a line; return the save that it says has come back, or come to its end."""
        if "Finished " not in line and "Saving checkpoint at step " not in line:
            return None
        found = MESSAGE.search(line)
        if found is None:
            return None
        step, blocked, whole = found.group("step", "blocked", "whole")
        if step is not None:
            self.begun = int(step), number
            return None
        if whole is not None:
            return Save(None, float(whole), number, is_whole=True)
        known, self.begun = self.begun, None
        return Save(None if known is None else known[0], float(blocked), number)
