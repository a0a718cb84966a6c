"""From what is known to what is set: a controller without a clock of its own.

Work begins gently. It grows as far as the upper end of what it may cost stays within the budget,
and shrinks when the lower end is beyond it; between the two nothing changes, so that noise moves
nothing. What was seen to hurt is not tried again for a while, and then for twice as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf

from instride.governor.ceiling import Ceiling
from instride.governor.effect import LEAST_PAIRS, Estimate, Pair, estimate
from instride.governor.model import Decision, Mode
from instride.governor.outlook import Outlook, Strain
from instride.governor.plenty import Plenty
from instride.governor.urgency import Urgency

LOOKING, SETTLED, HASTY, AMPLE = 0.5, 0.8, 0.9, 0.93
"""Shares of time at work: as long as little is known; with enough pauses to go on measuring; when
the deadline counts, with just enough to be able to say what that cost; and where more idles than
is used, with so few that a checkpoint is durable hardly later than its disk allows."""
MARGIN = 1.25
"""What is done against what a deadline needs; also the size of a step when it needs more."""
HEAD_START = 4.0
"""How many times longer than at full speed a job is given that waited for the training to end."""
FLOOR = 0.05
"""Effort that is always allowed, if need be in fewer windows: nothing starves."""
LEAST_DUTY = 0.1
AIM = 0.9
"""Of the budget, when work is cut back."""
RAISE = 1.25
"""A smaller raise than this is not worth a change."""
MOST_RAISE = 1.5
"""At once: what half as much again does may be three times as bad."""
RECENT_PAIRS, RECENT_CAUTION = 8, 2.0
"""The last pairs are looked at by themselves, so that a training that changes is noticed among
hundreds of earlier ones; by an interval twice as wide, because that is done again and again."""
POOL_PAIRS, POOL_S = 64, 900.0
SHORT_OF_MEMORY = 0.1
"""The share of time in which somebody waits for memory while we pause."""
HARMLESS = ("unknown-yet", "within-budget")
"""The reasons for decisions about work that was not seen to cost too much."""
DEADLINE = "deadline"
"""The reason for a decision that no longer minds the budget."""


class Controller:
    def __init__(
        self, budget: float, mode: Mode = "share", most_threads: int = 1, num_codec_steps: int = 2
    ) -> None:
        self._budget = budget
        self._mode = mode
        self._most_threads = most_threads
        self._urgency = Urgency(num_codec_steps)
        self._effort: float | None = None
        self._duty = LOOKING
        self._changed_s = -inf
        self._ceiling = Ceiling()
        self._hasty_effort = 0.0
        self._must_begin = False
        self._plenty = Plenty(most_threads)
        self._last: tuple[str, str] | None = None
        """Why things are as they are, until the last change has shown what it does."""

    def begin(self) -> None:
        """Another job: what was learnt about the training stays, its haste does not."""
        self.relax()
        self._plenty.begin()

    def relax(self) -> None:
        """What was due is done, or given up: nobody has to hurry for it any more."""
        self._urgency.begin()
        self._hasty_effort = 0.0
        self._must_begin = False

    def decide(self, outlook: Outlook) -> Decision:
        if outlook.training == "over":
            return self._set(outlook, "training-over", "nothing trains", effort=1.0, duty=1.0)
        if self._mode == "after" and outlook.training != "paused" and self._may_wait(outlook):
            return self._set(outlook, "after", "a training runs", effort=FLOOR, is_open=False)
        haste = self._urgency.judge(outlook.now_s, outlook)
        reason, why = self._adjust(outlook)
        if haste.needed_bytes_per_s is not None:
            effort = self._needed(outlook, haste.needed_bytes_per_s)
            return self._set(
                outlook, DEADLINE, haste.why, effort=effort, duty=max(HASTY, self._duty),
                most_pause_s=haste.spare_s,
            )  # fmt: skip
        if haste.why:
            reason, why = "lighter", haste.why
        return self._set(outlook, reason, why)

    def estimate_at(self, effort: float, pairs: Sequence[Pair]) -> Estimate | None:
        """What work of so much effort does, from what was seen of efforts near it."""
        near = [pair for pair in pairs if effort / 2 <= pair.effort <= 2 * effort]
        return estimate([pair.at_effort(effort) for pair in near[-POOL_PAIRS:]])

    def _set(
        self, outlook: Outlook, reason: str, why: str, *, effort: float | None = None,
        duty: float | None = None, is_open: bool = True, most_pause_s: float | None = None,
    ) -> Decision:  # fmt: skip
        effort = (self._effort or FLOOR) if effort is None else effort
        duty = self._duty if duty is None else duty
        threads = max(1, ceil(effort * self._most_threads - 1e-9))
        # Whole threads need no other limit; a part of one is a limit in bytes.
        is_whole = effort * self._most_threads >= threads - 1e-9
        rate = None if is_whole else effort * self._most_threads * outlook.speed_of_a_thread
        step = self._urgency.codec_step
        return Decision(threads, rate, duty, step, is_open, reason, why, effort, most_pause_s)

    def _may_wait(self, outlook: Outlook) -> bool:
        """Whether all of it could still be done in time, begun later; once it could not, it is not
        held up again."""
        if outlook.deadline_s is not None and not self._must_begin:
            takes_s = outlook.left_bytes / (outlook.speed_of_a_thread * self._most_threads)
            self._must_begin = outlook.deadline_s - outlook.now_s <= HEAD_START * takes_s
        return not self._must_begin

    def _needed(self, outlook: Outlook, bytes_per_s: float) -> float:
        """The effort that meets the deadline; it never falls, and rises in steps."""
        most_bytes_per_s = outlook.speed_of_a_thread * self._most_threads
        wanted = min(1.0, MARGIN * bytes_per_s / (HASTY * most_bytes_per_s))
        if wanted > self._hasty_effort:
            self._hasty_effort = min(1.0, max(MARGIN * wanted, self._effort or FLOOR))
        return self._hasty_effort

    def _adjust(self, outlook: Outlook) -> tuple[str, str]:
        """Move effort and duty; say which rule did it."""
        if (outlook.strain.memory or 0.0) >= SHORT_OF_MEMORY:
            self._move(outlook, FLOOR, LEAST_DUTY)
            return "memory", f"memory is short {outlook.strain.memory:.0%} of the time"
        if not outlook.has_steps and self._last is not None:
            return "no-steps", "no steps are seen for the moment: as before"
        is_new_plenty = outlook.has_steps and self._plenty.appears(outlook.strain)
        if self._effort is None or not outlook.has_steps:
            self._move(outlook, self._gentle(outlook.strain), self._duty_at_first(outlook))
            return self._unknown(outlook)
        self._ceiling.look(outlook.now_s)
        pairs = [pair for pair in outlook.pairs if pair.at_s > outlook.now_s - POOL_S]
        since = [pair for pair in pairs if pair.at_s > self._changed_s]
        if len(since) >= LEAST_PAIRS:
            harm = self._harm(since)
            self._last = self._cut_back(outlook, harm) if harm else self._grow(outlook, pairs)
        elif self._last is None:
            self._duty = self._duty_at_first(outlook)
        if is_new_plenty:
            self._use_plenty(outlook)
        return self._last or self._unknown(outlook)

    def _use_plenty(self, outlook: Outlook) -> None:
        """Without waiting for what the last change does to steps, unless work has hurt or nearly
        did. As long as nothing is known, it began by a strain that was none of its own pauses."""
        effort = self._effort or FLOOR
        if self._last is None:
            self._move(outlook, max(effort, self._gentle(outlook.strain)), AMPLE)
        elif self._last[0] in HARMLESS and self._ceiling.effort >= 1.0 and effort > FLOOR:
            self._duty = AMPLE

    def _harm(self, since: list[Pair]) -> Estimate | None:
        """What was seen at this setting, if it is beyond the budget for certain."""
        effort = self._effort or FLOOR
        looks = [(since[-POOL_PAIRS:], 1.0), (since[-RECENT_PAIRS:], RECENT_CAUTION)]
        for pairs, caution in looks:
            found = estimate([pair.at_effort(effort) for pair in pairs])
            if found is None:
                continue
            least = found.inflation - caution * found.plus_minus
            if least * self._duty > self._budget:
                return found
        return None

    def _cut_back(self, outlook: Outlook, harm: Estimate) -> tuple[str, str]:
        self._plenty.hurt()
        effort = self._effort or FLOOR
        allowed = AIM * self._budget / harm.inflation * effort  # times duty
        if effort > FLOOR:
            self._ceiling.hurt(outlook.now_s, effort)
        wanted = min(allowed / LOOKING, self._ceiling.effort)
        if wanted >= FLOOR:
            self._move(outlook, wanted, LOOKING)
        else:
            self._move(outlook, FLOOR, min(LOOKING, max(LEAST_DUTY, allowed / FLOOR)))
        return "over-budget", self._told(harm)

    def _grow(self, outlook: Outlook, pairs: list[Pair]) -> tuple[str, str]:
        effort = self._effort or FLOOR
        found = self.estimate_at(effort, pairs)
        if found is None or found.plus_minus == inf:
            return self._unknown(outlook)
        most = max(found.most, 1e-6)
        duty = AMPLE if self._plenty.is_found else SETTLED
        if most * duty <= self._budget:
            allowed = min(self._budget / (most * duty) * effort, MOST_RAISE * effort)
            wanted = min(allowed, self._ceiling.effort, 1.0)
            is_more = wanted >= RAISE * effort or (wanted == 1.0 > effort)
            if not is_more and wanted < allowed:
                self._ceiling.hold(outlook.now_s)
            self._move(outlook, wanted if is_more else effort, duty)
            return "within-budget", self._told(found)
        if self._duty < LOOKING and most * 2 * self._duty <= self._budget:
            self._move(outlook, effort, min(LOOKING, 2 * self._duty))
            return "within-budget", self._told(found)
        if found.plus_minus * self._duty > self._budget:
            return self._unknown(outlook)
        return "at-budget", self._told(found)

    def _unknown(self, outlook: Outlook) -> tuple[str, str]:
        if not outlook.has_steps:
            return "no-steps", "no steps are seen: gentle, by what else waits on this machine"
        needed = self.num_steps_needed(outlook.pairs)
        more = "" if needed is None else f": {needed} more steps to tell"
        return "unknown-yet", f"what it costs is unknown yet{more}"

    def num_steps_needed(self, pairs: Sequence[Pair]) -> int | None:
        """How many more steps until the cost can be told from the budget; None: no idea yet."""
        found = self.estimate_at(self._effort or FLOOR, pairs)
        return None if found is None else found.num_steps_needed(self._budget / self._duty)

    def _gentle(self, strain: Strain) -> float:
        """What nobody should feel: one thread, or as many as there are cores that idle."""
        threads = self._most_threads if strain.is_idle else max(1, int(strain.spare_cores))
        effort = min(1.0, threads / self._most_threads)
        return min(effort, 0.5 / self._most_threads) if strain.is_high else effort

    def _duty_at_first(self, outlook: Outlook) -> float:
        """The share of time at work, until it is known what that does to steps."""
        if outlook.has_steps:
            return AMPLE if self._plenty.is_found else LOOKING
        if outlook.strain.is_high:
            return LOOKING
        # Pauses only serve to see what others wait for.
        return HASTY if outlook.strain.is_idle else SETTLED

    def _move(self, outlook: Outlook, effort: float, duty: float) -> None:
        if self._effort is None or abs(effort - self._effort) > 1e-9 * effort:
            self._effort = effort
            self._changed_s = outlook.now_s
        self._duty = duty

    def _told(self, found: Estimate) -> str:
        return (
            f"steps take {100 * found.inflation:.1f} % \u00b1 {100 * found.plus_minus:.1f} longer "
            f"while it works, with a budget of {100 * self._budget:g} %"
        )
