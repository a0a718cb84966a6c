"""Learning from lines of one kind: whether they are steps, and where their times stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import isnan, log10, nan

from instride.steps.model import EventKind
from instride.steps.readers.generic_markers import marker
from instride.steps.readers.guess_anchors import Field, anchor
from instride.steps.readers.guess_columns import (
    MOSTLY,
    Column,
    count_through,
    counts_up,
    in_batches,
    samples_a_step,
    stride_of,
)
from instride.steps.readers.guess_learnt import Learnt
from instride.steps.readers.guess_lines import (
    Key,
    Line,
    announce_evaluation,
    are_evaluation,
    epochs_at,
)
from instride.steps.readers.guess_slots import (
    Slot,
    finite,
    is_epoch_word,
    is_step_word,
    is_whole,
)
from instride.steps.readers.guess_times import COVERAGE, Times, choose_times
from instride.steps.readers.guess_words import (
    EVAL_WORD,
    METRIC,
    PER_STEP,
    RATE,
    SAVING,
    STEP,
    is_any,
    subwords,
)
from instride.steps.stamps import Stamps

STEP_WORD, FRACTION, EPOCH_WORD, OTHER = 3.0, 2.0, 1.0, 0.5
"""How much a slot looks like a step number, by its name: `step 5`, `5/100`, `epoch 5`, `foo 5`."""
NEARLY_ALL = 0.98
MOST_STARTED_S = 300.0
"""A clock without a date that begins below this counts from the start of the process."""
BAR = re.compile(r"\[[\d:]{1,12}<[\d:?]{1,12}, ")
NO_STEPS = (EventKind.SAVE, EventKind.LOAD, EventKind.CLEANUP)


def weight(key: Key, slot: Slot) -> float:
    if key[-1] > 0:
        return 0.0
    if is_epoch_word(slot):
        return EPOCH_WORD
    if is_step_word(slot):
        return STEP_WORD
    if slot.unit:
        return 0.0
    return FRACTION if slot.total is not None else OTHER


class Group:
    """Lines of one kind that all have a slot which may be the step."""

    def __init__(self, key: Key, lines: list[Line], headers: dict[int, int]) -> None:
        self.key, self.lines, self.headers = key, lines, headers
        self.weight = weight(key, lines[0].slots[key])
        counts = Counter(key for line in lines for key in line.slots)
        self.columns = {
            other: self._column(other)
            for other, count in counts.items()
            if count >= COVERAGE * len(lines)
        }
        self.step = self.columns[key]

    def learn(self) -> Learnt | None:
        if not self.step.is_whole or max(self.step.values) > 1e15 or self._says_other():
            return None
        steps = [int(value) for value in self.step.values]
        epochs, epoch_key = self._epochs(steps)
        batch = samples_a_step(epochs, self.step)
        if batch > 1:
            self.step = in_batches(self.step, batch)
            steps = [int(value) for value in self.step.values]
        first_epoch = 0 if epochs and min(epochs) == 0 else 1
        through = count_through(epochs, self.step, first_epoch) if epochs else None
        steps = through or steps
        if not counts_up(steps):
            return None
        form, walls = self._walls()
        others = [c for key, c in self.columns.items() if key not in (self.key, epoch_key)]
        if self._has_bar():
            others = [
                c for c in others if not (PER_STEP.fullmatch(c.unit) or RATE.fullmatch(c.unit))
            ]
        times = choose_times(others, steps, walls)
        step_field = anchor(self.key, self.lines, is_count=True)
        if step_field is None or not self._is_believable(steps, times, form is not None):
            return None
        learnt = Learnt(
            score=self._score(times, form is not None),
            step=step_field,
            stride=stride_of(steps)[0],
            times=times,
            form=form,
            is_own_clock=form == "time only" and walls[0] < MOST_STARTED_S,
            labels=self._labels(),
            num_slots=int(sum(len(line.slots) for line in self.lines) / len(self.lines)),
            evals_apart=self._evals_apart(),
            evaluates=self._share(EventKind.EVAL) > 0.5,
            batch=batch,
            total=self._usual_total(),
        )
        if through is not None:
            learnt.first_epoch = first_epoch
            learnt.epoch_lines = epoch_key is None
            if epoch_key is not None:
                learnt.epoch = anchor(epoch_key, self.lines, is_count=True)
        return learnt if self._finds_times(learnt) else None

    def _usual_total(self) -> int | None:
        """Out of how many steps most records are, where they say so."""
        totals = Counter(total for total in self.step.totals if total is not None)
        return int(totals.most_common(1)[0][0]) if totals else None

    def _has_bar(self) -> bool:
        """Whether these are progress bars: the rate they print is smoothed, and of no use."""
        return sum(BAR.search(line.text) is not None for line in self.lines) > 0.5 * len(self.lines)

    def _column(self, key: Key) -> Column:
        slots = [line.slots.get(key) for line in self.lines]
        known = [slot for slot in slots if slot is not None]
        kinds = Counter(slot.kind for slot in known if slot.kind != "odd")
        return Column(
            name=known[0].label,
            words=tuple(part for word in known[0].words for part in subwords(word)),
            unit=known[0].unit,
            kind=kinds.most_common(1)[0][0] if kinds else "number",
            values=[finite(slot) for slot in slots],
            is_whole=all(is_whole(slot) for slot in known),
            totals=[slot.total if slot is not None else None for slot in slots],
        )

    def _epochs(self, steps: list[int]) -> tuple[list[int], Key | None]:
        """The epoch of every record: from its own line, or from the lines before it."""
        if self.weight == EPOCH_WORD:
            return [], None
        for key, column in self.columns.items():
            slot = next(line.slots[key] for line in self.lines if key in line.slots)
            is_known = column.is_whole and not any(isnan(value) for value in column.values)
            if key != self.key and is_known and is_epoch_word(slot):
                return [int(value) for value in column.values], key
        resets = [after < before for before, after in pairwise(steps)]
        for key, column in self.columns.items() if any(resets) else ():
            ups = [after - before for before, after in pairwise(column.values)]
            if column.is_whole and ups == resets:
                return [int(value) for value in column.values], key
        if not any(resets) or not self.headers:
            return [], None
        epochs = epochs_at(self.lines, self.headers)
        return (epochs, None) if len(set(epochs)) > 0.5 * sum(resets) else ([], None)

    def _walls(self) -> tuple[str | None, list[float]]:
        """The timestamps on the lines, if nearly all have one and they go forward."""
        forms = Counter(line.form for line in self.lines if line.form)
        if forms:
            form, count = forms.most_common(1)[0]
            stamps = Stamps(form)
            found = [stamps.find(line.text) for line in self.lines]
            walls = [nan if wall is None else wall for wall in found]
            forward = sum(before <= after for before, after in pairwise(walls))
            if count >= MOSTLY * len(self.lines) and forward >= MOSTLY * (len(walls) - 1):
                return form, walls
        return None, [nan] * len(self.lines)

    def _says_other(self) -> bool:
        """Whether the lines tell of saves, loads and evaluations, at some step."""
        if sum(self._share(kind) for kind in NO_STEPS) > 0.5 or announce_evaluation(self.lines):
            return True
        named = [
            any(w in SAVING for word in line.words for w in subwords(word)) for line in self.lines
        ]
        return not self._trains() and sum(named) > 0.5 * len(named)

    def _trains(self) -> bool:
        return any(is_any(column.last_word, METRIC) for column in self.columns.values())

    def _evals_apart(self) -> bool:
        named: set[str] = set()
        plain: set[str] = set()
        for line in self.lines:
            steps = named if EVAL_WORD.search(line.text) else plain
            steps.add(line.slots[self.key].text)
        return len(named & plain) > 0.5 * len(named)

    def _share(self, kind: EventKind) -> float:
        sample = self.lines[:: max(1, len(self.lines) // 50)]
        return sum(marker(line.text) is kind for line in sample) / len(sample)

    def _is_believable(self, steps: Sequence[int], times: Times, is_dated: bool) -> bool:
        """Prose and other counted things have numbers too: ask for more where names say less."""
        trains = self._trains()
        regular = stride_of(steps)[1]
        lasts = times.seconds or times.elapsed
        is_timed = lasts is not None or is_dated or times.stamp is not None
        if self.weight == STEP_WORD:
            return trains or lasts is not None or (is_timed and regular >= 0.5)
        if self.weight != EPOCH_WORD and are_evaluation(self.lines):
            return False
        if self.weight == FRACTION:
            named = lasts is not None and (lasts.has(STEP) or bool(PER_STEP.fullmatch(lasts.unit)))
            return is_timed and (trains or named)
        if self.weight == EPOCH_WORD:
            return regular >= MOSTLY and (trains or lasts is not None)
        return is_timed and trains and regular >= MOSTLY

    def _score(self, times: Times, is_dated: bool) -> float:
        score = 2 * self.weight + log10(len(self.lines))
        if times.seconds is not None and not times.is_rate:
            score += 2.0
        elif is_dated or times.elapsed is not None or times.stamp is not None:
            score += 1.5
        elif times.seconds is not None:
            score += 1.0
        return score - (3.0 if self._share(EventKind.EVAL) > 0.5 else 0.0)

    def _finds_times(self, learnt: Learnt) -> bool:
        times = learnt.times
        learnt.seconds = self._anchor(times.seconds)
        learnt.elapsed = self._anchor(times.elapsed)
        learnt.stamp = self._anchor(times.stamp)
        learnt.data = self._anchor(times.data)
        if learnt.seconds is not None:
            held = sum(learnt.seconds.pattern.search(line.text) is not None for line in self.lines)
            learnt.needs_seconds = held >= NEARLY_ALL * len(self.lines)
        if not learnt.needs_seconds:
            clock = times.elapsed or times.stamp
            named = clock.name if clock is not None else ""
            learnt.required = named or self._required(learnt.labels)
        wanted = (times.seconds, times.elapsed, times.stamp)
        found = (learnt.seconds, learnt.elapsed, learnt.stamp, learnt.form)
        return any(found) or not any(wanted)

    def _anchor(self, column: Column | None) -> Field | None:
        for key, other in self.columns.items():
            if other is column:
                return anchor(key, self.lines)
        return None

    def _labels(self) -> frozenset[str]:
        counts = Counter(label for line in self.lines for label in {key[0] for key in line.slots})
        enough = NEARLY_ALL * len(self.lines)
        return frozenset(label for label, count in counts.items() if label and count >= enough)

    def _required(self, labels: frozenset[str]) -> str:
        """The name of a number that all records have besides the step: best that of a metric."""
        named = [
            column
            for key, column in self.columns.items()
            if key != self.key and key[0] in labels and column.name != self.step.name
        ]
        named.sort(key=lambda c: (is_any(c.last_word, METRIC), len(c.name)), reverse=True)
        return named[0].name if named else ""
