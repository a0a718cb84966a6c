"""What a run pays as its steps go by: the measure by which runs of different length compare."""

from __future__ import annotations

import msgspec

from instride.explain.explaining import Explanation
from instride.explain.findings import Finding
from instride.explain.pauses import OWNER_OF
from instride.explain.spans import Owner, Span, Told
from instride.steps.model import EventKind

PER = 1000
"""Steps that costs are given for."""
PER_STEP = (
    Owner.COMPUTE,
    Owner.EVAL,
    Owner.SAVE,
    Owner.AFTERMATH,
    Owner.DATA,
    Owner.UNKNOWN,
)
"""Owners whose seconds grow with the number of steps."""
ACCIDENTS = (Owner.RESTART, Owner.LOST)
PAUSES = (Owner.EVAL, Owner.SAVE, Owner.AFTERMATH)
MARKED_AS = {Owner.EVAL: Owner.EVAL, Owner.SAVE: Owner.SAVE, Owner.AFTERMATH: Owner.SAVE}
"""Whose markers tell that an owner had its turn."""
CLOSING = "closing-"
"""Findings about the time after the last step, where it is unlike the pauses before it."""


class Turns(msgspec.Struct, frozen=True):
    """How often an owner had its turn."""

    first: int
    """The step of the first."""
    count: int
    every: float
    """Steps from one to the next; as long as the log if there was only one."""

    def has_beat_at(self, step: int) -> bool:
        """A step at which one may well be due, if they went on for ever."""
        off = (step - self.first) % self.every
        return self.count > 1 and min(off, self.every - off) <= 1


class Pace:
    """One run, measured by its steps."""

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation
        self.ledger = explanation.ledger
        self.run = self.ledger.timeline.run
        self.num_starts = len(self.ledger.timeline.processes)
        self.num_steps = max(1, self.ledger.num_steps - self.ledger.accounts[Owner.LOST].steps)
        self.stride = max(process.stride for process in self.ledger.timeline.processes)
        self.has_wall = len(self.run.wall) > 0
        self.has_data = len(self.run.data) > 0
        """The log says how long steps wait for data."""
        self._other: Pace | None = None
        self._at_the_end = {each.owner for each in explanation.findings if is_closing(each)}

    def lean_on(self, other: Pace) -> None:
        """Take the distance of what was seen once from a run that has more of it."""
        self._other = other

    def seconds(self, owner: Owner) -> float:
        """What an owner has, without what it takes once, after the last step."""
        closing = sum(span.cost_s for span in self._spans(owner) if self._is_once(span))
        return max(0.0, self.ledger.accounts[owner].seconds - closing)

    @property
    def closing_s(self) -> float:
        return sum(span.cost_s for span in self.ledger.spans if self._is_once(span))

    def _is_once(self, span: Span) -> bool:
        return span.is_closing and span.owner in self._at_the_end

    def _spans(self, owner: Owner) -> list[Span]:
        return [span for span in self.ledger.spans if span.owner is owner]

    def per_1000(self, owner: Owner) -> float:
        return self.seconds(owner) * PER / self.num_steps * self._evened(owner)

    def finding_per_1000(self, finding: Finding) -> float:
        return finding.cost_s * PER / self.num_steps * self._evened(finding.owner)

    def turns(self, owner: Owner) -> Turns | None:
        """How often an owner had its turn, and at what distance; None if it never had."""
        own = self._own_turns(owner)
        if own is not None and own.count == 1 and self._other is not None:
            model = self._other._own_turns(owner)
            if model is not None and model.has_beat_at(own.first):
                return Turns(own.first, 1, model.every)
        return own

    def _own_turns(self, owner: Owner) -> Turns | None:
        spans = [span for span in self._spans(owner) if not self._is_once(span)]
        if not spans:
            return None
        at = self._marked(owner) | {span.begin: span.step for span in spans}
        steps = sorted(at.values())
        if steps[-1] == steps[0]:
            return Turns(steps[0], 1, self.num_steps)
        return Turns(steps[0], len(steps), (steps[-1] - steps[0]) / (len(steps) - 1))

    def _marked(self, owner: Owner) -> dict[int, int]:
        """Steps by record at which the log says that an owner had its turn, even at no cost.

        Clean-up comes with saves and is none.
        """
        found = {}
        for index, events in self.ledger.timeline.events_at.items():
            for event in events:
                is_turn = event.sure and event.kind is not EventKind.CLEANUP
                if is_turn and OWNER_OF[event.kind] is owner:
                    found[index] = self.run.step[index] if event.step is None else event.step
        return found

    def _evened(self, owner: Owner) -> float:
        """Takes out the chance of where a log begins and ends.

        Evaluations at steps 0, 500 and 1000 are three in 1200 steps, and eleven in 5000: by their
        distance they cost the same.
        """
        if owner not in PAUSES or (turns := self.turns(owner)) is None:
            return 1.0
        expected = self.num_steps / turns.every
        return expected / turns.count if abs(expected - turns.count) <= 1 else 1.0

    def has_markers(self, owner: Owner) -> bool:
        """The log says that an owner was at work, whatever it cost."""
        marked_as = MARKED_AS.get(owner)
        return any(OWNER_OF.get(event.kind) is marked_as for event in self.run.events if marked_as)

    def hides(self, owner: Owner) -> bool:
        """The log marks pauses of an owner whose time is in none of its numbers."""
        key = {Owner.EVAL: "evals", Owner.SAVE: "saves"}.get(owner)
        return any(
            unknown.id == "hidden" and key is not None and bool(unknown.facts[key])
            for unknown in self.explanation.unknowns
        )

    @property
    def has_joint(self) -> bool:
        """Evaluations and saves share pauses, which the log does not split, or hardly."""
        return any(span.is_joint or span.told is Told.SPLIT for span in self.ledger.spans)

    @property
    def is_split(self) -> bool:
        """Each evaluation and save has a cost of its own, however rough."""
        return not any(span.is_joint for span in self.ledger.spans)


def is_closing(finding: Finding) -> bool:
    return finding.id.startswith(CLOSING)


def is_once(finding: Finding) -> bool:
    """It comes with a start, an end or a crash, however many steps there are."""
    return is_closing(finding) or finding.owner not in PER_STEP
