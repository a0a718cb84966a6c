"""Pauses that the log marks (evaluations, saves, clean-up), and the slow first steps."""

from __future__ import annotations

from statistics import median

from instride.explain.excess import MARKED, Excess
from instride.explain.spans import Owner, Span, Told
from instride.steps.model import Event, EventKind, Pauses

LONGEST_WARMUP = 20
"""Records: what is slow for longer from the start on is no warm-up."""
OWNER_OF = {
    EventKind.EVAL: Owner.EVAL,
    EventKind.SAVE: Owner.SAVE,
    EventKind.AFTER_SAVE: Owner.SAVE,
    EventKind.CLEANUP: Owner.SAVE,
}


def marked_pauses(excess: Excess, usual_data_s: float) -> list[Span]:
    """Spans for the first steps of the process and for every marked pause in it."""
    work = _Pauses(excess, usual_data_s)
    work.take_stated()
    work.learn_typical()
    work.take_warmup()
    work.take_marked()
    work.estimate_unseen()
    return work.spans


class _Pauses:
    def __init__(self, excess: Excess, usual_data_s: float) -> None:
        self.excess = excess
        self.usual_data_s = usual_data_s
        self.timeline = excess.timeline
        self.process = excess.process
        self.spans: list[Span] = []
        self.typical: dict[Owner, float] = {}
        """What a pause of one owner alone costs in this process."""
        self.joint_s: float | None = None
        """What an evaluation and a save in one pause cost, where they always come together."""
        self.is_rough = False
        """What an evaluation alone costs is known from the first step only, with its warm-up."""
        self.events = {
            at: events
            for at, events in self.timeline.events_at.items()
            if self.process.begin <= at < self.process.end
        }

    def take_stated(self) -> None:
        for at, events in self.events.items():
            for event in events:
                taken = self.excess.take_stated(at, event.seconds) if event.seconds else 0.0
                if taken > 0:
                    owner = OWNER_OF[event.kind]
                    self.spans.append(self._span(owner, at, taken, Told.STATED, [event]))

    def learn_typical(self) -> None:
        """Learn what an evaluation and a save cost from pauses that hold only one of them."""
        alone: dict[Owner, list[float]] = {}
        joint: list[float] = []
        for at in self.events:
            owners = self._unstated(at)
            if at == self.process.begin or self.timeline.is_unseen(at, self.process):
                continue
            left = self.excess.left.get(at, 0.0)
            if len(owners) == 1:
                alone.setdefault(next(iter(owners)), []).append(left)
            elif len(owners) == 2 and left > 0:
                joint.append(left)
        self.typical = {owner: median(costs) for owner, costs in alone.items()}
        if joint:
            self.joint_s = median(joint)
        if self.joint_s and not self.typical and self._unstated(self.process.begin) == {Owner.EVAL}:
            # The first record evaluates without saving: an upper bound, as it holds warm-up too.
            bound = self.excess.left.get(self.process.begin, 0.0)
            if 0.5 * self.joint_s < bound < self.joint_s:
                self.typical[Owner.EVAL] = bound
                self.is_rough = True

    def take_warmup(self) -> None:
        begin = self.process.begin
        if self.timeline.seconds[begin] == 0:
            begin += 1
        for index in range(begin, min(self.process.end, begin + LONGEST_WARMUP)):
            if index > begin and index in self.events:
                break
            if not self.excess.remains_slow(index) or not self._take_usual(index):
                break
            self._add(
                Owner.DATA, index, self.excess.stalled_s(index, self.usual_data_s), Told.STATED, []
            )
            if self.excess.remains_slow(index):
                self._add(Owner.WARMUP, index, self.excess.left[index], Told.SHAPE, [])

    def _take_usual(self, index: int) -> bool:
        """Take what the marked pauses of a first step usually cost; False if that is not known."""
        events = self.events.get(index, [])
        owners = self._unstated(index)
        if not owners:
            return True
        if len(owners) == 2:
            if self.joint_s is None:
                return False
            self._split(index, self.joint_s, Told.MARKER, events)
            return True
        owner = next(iter(owners))
        usual = self.typical.get(owner, self.joint_s if owner is Owner.EVAL else None)
        if usual is None:
            return False
        self._add(owner, index, usual, Told.MARKER, events)
        return True

    def take_marked(self) -> None:
        for at, events in self.events.items():
            owners = self._unstated(at)
            sure = any(event.sure for event in events)
            if not owners or self.timeline.is_unseen(at, self.process):
                continue
            if not self.excess.remains_slow(at, MARKED if sure else 0.15):
                continue
            told = Told.MARKER if sure else Told.HINT
            left = self.excess.left[at]
            if len(owners) == 1:
                self._add(next(iter(owners)), at, left, told, events)
            else:
                self._split(at, left, told, events)

    def _split(self, at: int, seconds: float, told: Told, events: list[Event]) -> None:
        """Share a pause between its evaluation and its save, as far as other pauses tell."""
        for one, other in ((Owner.EVAL, Owner.SAVE), (Owner.SAVE, Owner.EVAL)):
            if one in self.typical:
                if self.is_rough and told is Told.MARKER:
                    told = Told.SPLIT
                part = min(seconds, self.typical[one])
                self._add(one, at, part, told, events)
                self._add(other, at, seconds - part, told, events)
                return
        self._add(Owner.EVAL, at, seconds, told, events)
        self.spans[-1].is_joint = True

    def estimate_unseen(self) -> None:
        """Give pauses at steps that were not printed what such a pause usually costs."""
        for at, events in self.events.items():
            if not self.timeline.is_unseen(at, self.process):
                continue
            owners = self._unstated(at)
            cost = self.joint_s if len(owners) == 2 else None
            if cost is None:
                cost = sum(self.typical.get(owner, 0.0) for owner in owners)
            if cost > 0:
                owner = Owner.EVAL if Owner.EVAL in owners else Owner.SAVE
                step = next(event.step for event in events if event.step is not None)
                span = self._span(owner, at, 0.0, Told.MARKER, events)
                span.first_step = span.last_step = step
                span.unseen_s, span.is_joint = cost, len(owners) == 2
                self.spans.append(span)

    def _unstated(self, at: int) -> set[Owner]:
        """Owners whose time must be found in the times of the record."""
        is_left_out = self.timeline.run.dialect.pauses is Pauses.NONE
        if is_left_out and not self.timeline.has_wall(at, self.process):
            return set()
        events = self.events.get(at, [])
        stated = {OWNER_OF[event.kind] for event in events if event.seconds}
        return {OWNER_OF[event.kind] for event in events} - stated

    def _add(self, owner: Owner, at: int, seconds: float, told: Told, events: list[Event]) -> None:
        taken = self.excess.take(at, seconds)
        if taken > 0:
            self.spans.append(self._span(owner, at, taken, told, events))

    def _span(self, owner: Owner, at: int, seconds: float, told: Told, events: list[Event]) -> Span:
        step = self.timeline.run.step[at]
        first = step - self.timeline.timed_steps(at, self.process) + 1
        mine = [event.line for event in events if OWNER_OF[event.kind] is owner]
        return Span(
            owner=owner,
            first_step=first,
            last_step=step,
            extra_s=seconds,
            factor=self.excess.factor(at),
            told=told,
            begin=at,
            end=at + 1,
            lines=[*mine[:3], self.timeline.run.line[at]],
            named_step=next((e.step for e in events if e.step is not None), None),
        )
