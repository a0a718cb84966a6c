"""What background work has cost a training, over one job and over all of them."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import msgspec

from instride.governor.effect import LEAST_PAIRS, Pair, mean
from instride.governor.model import Cost
from instride.governor.windows import STEPS


class _Spell(msgspec.Struct):
    seconds: float = 0.0
    work_s: float = 0.0
    num_bytes: int = 0


class Costing:
    def __init__(self) -> None:
        self._before = _Spell()
        self._job = _Spell()
        self._begun_s: float | None = None
        self.saw_steps = False

    def begin(self, now_s: float) -> None:
        self._begun_s = now_s
        self._job = _Spell()

    def add_work(self, seconds: float) -> None:
        """Work was allowed for so long."""
        self._job.work_s += seconds

    def end(self, now_s: float, num_bytes: int) -> None:
        if self._begun_s is not None:
            self._before.seconds += now_s - self._begun_s
            self._before.work_s += self._job.work_s
            self._before.num_bytes += num_bytes
            self._begun_s = None
            self._job = _Spell()

    def of_job(self, now_s: float, num_bytes: int, pairs: Iterable[Pair]) -> Cost:
        begun_s = now_s if self._begun_s is None else self._begun_s
        own = [pair for pair in pairs if pair.at_s > begun_s]
        return self._cost(_Spell(now_s - begun_s, self._job.work_s, num_bytes), own)

    def of_all(self, now_s: float, num_bytes: int, pairs: Iterable[Pair]) -> Cost:
        running_s = 0.0 if self._begun_s is None else now_s - self._begun_s
        spell = _Spell(
            self._before.seconds + running_s,
            self._before.work_s + self._job.work_s,
            self._before.num_bytes + num_bytes,
        )
        return self._cost(spell, list(pairs))

    def _cost(self, spell: _Spell, pairs: list[Pair]) -> Cost:
        found = mean(pairs)
        share = plus_minus = None
        needed: int | None = None
        if found is not None and found.plus_minus < inf and spell.seconds > 0:
            duty = min(1.0, spell.work_s / spell.seconds)
            share, plus_minus = found.inflation * duty, found.plus_minus * duty
        elif self.saw_steps:
            missing = LEAST_PAIRS - (0 if found is None else found.num_pairs)
            needed = int(missing * (2 * STEPS if found is None else found.steps_per_pair))
        return Cost(share, plus_minus, spell.seconds, spell.num_bytes, needed)
