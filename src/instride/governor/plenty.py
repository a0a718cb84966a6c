"""Whether a machine has so much to spare that a training hardly feels what is done beside it."""

from __future__ import annotations

from instride.governor.outlook import Strain

MANY_CORES = 3
"""So many have to be spare for that, if there are no fewer threads."""


class Plenty:
    """More cores idle than work begins with threads, and so many that it is no accident: steps
    hardly wait for one, as beside a training on a GPU, whose checkpoint would be done late for
    nothing.

    Found at most once in a job, and then there until steps did wait: whenever the duty changes, a
    window of work ends, and there is nothing to compare. Not to have found it yet is not the end of
    it: what is seen before the first job of a process is largely how that process got ready.
    """

    def __init__(self, most_threads: int) -> None:
        self._enough = min(most_threads, MANY_CORES)
        self._did_hurt = False
        self.is_found = False

    def begin(self) -> None:
        """Another job."""
        self._did_hurt = False
        self.is_found = False

    def appears(self, strain: Strain) -> bool:
        """Look for it; returns whether it has been found just now."""
        if self.is_found or self._did_hurt:
            return False
        self.is_found = strain.spare_cores >= self._enough and not strain.is_high
        return self.is_found

    def hurt(self) -> None:
        """Steps did wait: whatever idles, it is no plenty for the rest of this job."""
        self._did_hurt = True
        self.is_found = False
