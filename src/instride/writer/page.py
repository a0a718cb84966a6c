"""A page that trainer and writer share: steps as they pass, and how far a snapshot has come.

The trainer writes it without a system call. Every field is one aligned 8-byte store, and the
counter of beats is written behind the beat that it counts. Offsets: docs/internals/protocol.md.
"""

from __future__ import annotations

import mmap
import os
import threading

from instride.system.descriptors import above_standard

NUM_BEATS = 4096
COPIED, WRITTEN, BEATS, PROGRESS, JOURNALED = range(5)
"""Indices of the 8-byte fields: pieces copied by the trainer, of what is still on its way; pieces
written, of a stream; beats so far; anything that the writer got done, for whoever watches whether
the storage hangs; beats that are in the journal, for the writer after this one."""
NOBODYS = -1
RESTORED = -2
"""A beat that is no step but a restore, for which there was no checkpoint yet; below that there was
one, of step 0 and so on. Among the beats its place is exact, and no writer that dies loses it."""
MOST_STEPS = 1 << 62
FIRST_BEAT = 8
FIELDS_OF_A_BEAT = 2
PAGE_BYTES = 8 * (FIRST_BEAT + FIELDS_OF_A_BEAT * NUM_BEATS)


class SharedPage:
    def __init__(self, fd: int) -> None:
        """`NOBODYS`: a page that is shared with no other process."""
        self.fd = fd
        self._map = mmap.mmap(fd, PAGE_BYTES)
        self._integers = memoryview(self._map).cast("q")
        self._floats = memoryview(self._map).cast("d")
        self._counting = threading.Lock()

    @classmethod
    def create(cls) -> SharedPage:
        with above_standard():
            fd = os.memfd_create("instride-page", os.MFD_CLOEXEC)
            try:
                os.ftruncate(fd, PAGE_BYTES)
                return cls(fd)
            except BaseException:  # a map needs a descriptor too, and there may be none left
                os.close(fd)
                raise

    def __getitem__(self, field: int) -> int:
        return self._integers[field]

    def __setitem__(self, field: int, value: int) -> None:
        self._integers[field] = value

    def count_progress(self) -> None:
        """Something got done, by any thread of the writer's."""
        with self._counting:
            self._integers[PROGRESS] += 1

    def beat(self, step: int, now_s: float) -> None:
        """Note that a step has ended; -1 where its number is not known."""
        self._note(step, now_s)

    def restored(self, step: int | None, now_s: float) -> None:
        """Note that training goes on from the checkpoint of a step; None: there was none."""
        if step is None:
            self._note(RESTORED, now_s)
        elif 0 <= step < MOST_STEPS:
            self._note(RESTORED - 1 - step, now_s)

    def _note(self, what: int, now_s: float) -> None:
        num_beats = self._integers[BEATS]
        place = FIRST_BEAT + FIELDS_OF_A_BEAT * (num_beats % NUM_BEATS)
        self._integers[place] = what
        self._floats[place + 1] = now_s
        self._integers[BEATS] = num_beats + 1

    @staticmethod
    def restored_by(beat: int) -> int | None:
        """The step of the checkpoint, of a beat that is a restore; None: there was none."""
        return None if beat == RESTORED else RESTORED - 1 - beat

    @property
    def num_beats(self) -> int:
        return self._integers[BEATS]

    def beats_since(self, seen: int, num_beats: int) -> list[tuple[int, float]]:
        """The steps among `all_since`."""
        return [beat for beat in self.all_since(seen, num_beats) if beat[0] > RESTORED]

    def all_since(self, seen: int, num_beats: int) -> list[tuple[int, float]]:
        """The beats from the `seen`-th to the `num_beats`-th that are still there, oldest first."""
        # The oldest one may be overwritten while we read it.
        first = max(seen, num_beats - NUM_BEATS + 1)
        places = (
            FIRST_BEAT + FIELDS_OF_A_BEAT * (beat % NUM_BEATS) for beat in range(first, num_beats)
        )
        return [(self._integers[place], self._floats[place + 1]) for place in places]

    def beat_before(self, num_beats: int) -> float | None:
        """When the last step of so many beats was; None if it is not there."""
        beats = self.beats_since(0, num_beats)
        return beats[-1][1] if beats else None

    def close(self) -> None:
        self._integers.release()
        self._floats.release()
        self._map.close()
        if self.fd != NOBODYS:
            os.close(self.fd)
