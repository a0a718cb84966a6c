"""Any script with a tqdm bar: `train:  12%|#2        | 12/100 [00:09<01:06,  1.33it/s]`."""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.notes import Note
from instride.steps.readers.bar_choosing import A_COUPLE, choose
from instride.steps.readers.bar_families import Bar, Family
from instride.steps.readers.bar_reader import BarReader
from instride.steps.readers.bars import Role, parse
from instride.steps.readers.gaps import Mark
from instride.steps.readers.generic_markers import marker, stated_s
from instride.steps.readers.training_bar import Replay

MARKED = (EventKind.EVAL, EventKind.SAVE, EventKind.CLEANUP, EventKind.LOAD, EventKind.COMPILE)
"""Not launches: some scripts announce one for every epoch, and the bars show those of processes."""
EPOCH = re.compile(r"epoch[^\d|]{0,4}(\d{1,9})", re.IGNORECASE)


class Tqdm(BarReader):
    """A log may have bars of downloads, tokenising, evaluations; which one is the training shows
    only at its end. Its clock counts whole seconds and runs through every pause.
    """

    is_general: ClassVar = True
    dialect: ClassVar = Dialect(
        name="tqdm",
        title="tqdm progress bar",
        sample="Epoch 1:  12%|#2        | 12/100 [00:09<01:06,  1.33it/s, loss=2.1]",
        pauses=Pauses.SMOOTHED,
        sampling=Sampling.RUNNING_TOTAL,
    )

    @staticmethod
    def sniff(line: str) -> bool:
        if " [" not in line:
            return False
        update = parse(line)
        return update is not None and update.role is not Role.PREPARATION

    def feed(self, number: int, line: str) -> None:
        # A bar may show `val_loss=2.1` at every step: only other lines say that something happens.
        if self.bars.feed(number, line) < 0:
            kind = marker(line)
            if kind in MARKED:
                self.bars.mark(Mark(kind, number, stated_s(line)))

    def finish(self) -> None:
        family = choose(self.bars.families.values())
        if family is None:
            return
        replay = Replay(self.log, self.bars, family, Epochs().steps_before)
        replay.run()
        if any(_is_rival(each, family) for each in self.bars.families.values()):
            self.log.note(Note("several-bars", {"name": family.description or None}))
        if replay.num_epochs and not replay.has_stamps:
            self.log.note(Note("bar-an-epoch"))


def _is_rival(other: Family, chosen: Family) -> bool:
    is_like_it = other is not chosen and other.role in (Role.TRAINING, Role.OTHER)
    return is_like_it and other.num_kept > A_COUPLE and 4 * other.elapsed_s > chosen.elapsed_s


class Epochs:
    """Steps before each bar, where the labels number the epochs; asked once for each, in order."""

    def __init__(self) -> None:
        self._offsets: dict[int, int] = {}
        self._last: tuple[int, Bar] | None = None

    def steps_before(self, bar: Bar) -> int | None:
        numbers = [found for _, label in bar.labels if (found := EPOCH.search(label))]
        if not numbers:
            self._last = None
            return None
        epoch = int(numbers[-1][1])
        if self._last is not None and epoch not in self._offsets:
            before, last = self._last
            # A bar may run beyond its total, if that was counted too small.
            length = max(last.n, last.family.total or 0)
            self._offsets[epoch] = self._offsets[before] + max(0, epoch - before) * length
        self._last = epoch, bar
        return self._offsets.setdefault(epoch, 0)
