"""What two logs do not let one compare, or only roughly: said in a line each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from instride.explain.compared import Caveat
from instride.explain.findings import NOTABLE
from instride.explain.pace import ACCIDENTS, PER_STEP, Pace
from instride.explain.spans import Owner

OTHER_WORK = 0.15
"""Change of the ordinary step from which it may be another amount of work."""
TOO_SHORT = 0.95
"""A log shorter than this share of a distance need not have what comes at that distance."""

Reason = Literal["short", "hidden"]


def blind_spots(before: Pace, after: Pace) -> dict[Owner, Reason]:
    """Owners of whom one log tells and the other cannot, and why it cannot."""
    found: dict[Owner, Reason] = {}
    for owner in PER_STEP:
        for one, other in ((before, after), (after, before)):
            if one.seconds(owner) > 0 and not other.seconds(owner):
                if other.hides(owner):
                    found[owner] = "hidden"
                elif _is_too_short(owner, one, other):
                    found[owner] = "short"
    return found


def _is_too_short(owner: Owner, seen_in: Pace, other: Pace) -> bool:
    """The other log need not have reached it; a marker without a cost would be an answer."""
    turns = seen_in.turns(owner)
    if turns is None or other.has_markers(owner):
        return False
    return other.num_steps < TOO_SHORT * turns.every


def caveats(
    before: Pace, after: Pace, blind: dict[Owner, Reason], per_1000_s: float
) -> list[Caveat]:
    return [
        *_different_logs(before, after),
        *(
            _blind_spot(before, after, *each)
            for each in blind.items()
            if not _is_told(each[0], blind)
        ),
        *_rough(before, after, blind, per_1000_s),
    ]


def _different_logs(before: Pace, after: Pace) -> Iterator[Caveat]:
    one, other = before.run.dialect, after.run.dialect
    if one.name != other.name:
        yield Caveat("dialects", {"before": one.title, "after": other.title})
    if before.stride != after.stride:
        yield Caveat("sampling", {"before": before.stride, "after": after.stride})
    if before.has_wall != after.has_wall:
        yield Caveat("wall", {"has_wall": "before" if before.has_wall else "after"})
    if before.has_data != after.has_data and before.seconds(Owner.DATA) + after.seconds(Owner.DATA):
        yield Caveat("data", {"has_data": "before" if before.has_data else "after"})


def _blind_spot(before: Pace, after: Pace, owner: Owner, reason: Reason) -> Caveat:
    is_before_blind = not before.seconds(owner)
    side = "before" if is_before_blind else "after"
    if reason == "hidden":
        return Caveat("hidden", {"owner": owner.value, "side": side})
    blind, seeing = (before, after) if is_before_blind else (after, before)
    turns = seeing.turns(owner)
    every = round(turns.every) if turns and turns.count > 1 else None
    steps = blind.num_steps
    return Caveat("short", {"owner": owner.value, "side": side, "steps": steps, "every": every})


def _is_told(owner: Owner, blind: dict[Owner, Reason]) -> bool:
    """What is said of saves goes without saying for their aftermath."""
    return owner is Owner.AFTERMATH and blind.get(Owner.SAVE) == blind[owner]


def _rough(
    before: Pace, after: Pace, blind: dict[Owner, Reason], per_1000_s: float
) -> Iterator[Caveat]:
    if (before.has_joint, before.is_split) != (after.has_joint, after.is_split):
        yield Caveat("joint", {"side": "before" if before.has_joint else "after"})
    for side, pace in (("before", before), ("after", after)):
        for owner in (Owner.EVAL, Owner.SAVE):
            turns = pace.turns(owner)
            is_single = turns is not None and turns.count == 1 and owner not in blind
            cost_s = pace.per_1000(owner)
            if owner is Owner.SAVE:
                cost_s += pace.per_1000(Owner.AFTERMATH)
            if is_single and cost_s >= NOTABLE * per_1000_s:
                yield Caveat("single", {"owner": owner.value, "side": side})
    accidents = [pace.seconds(owner) for pace in (before, after) for owner in ACCIDENTS]
    if any(accidents):
        yield Caveat("accidents", {})
    factor = after.ledger.baseline_s / before.ledger.baseline_s
    if abs(factor - 1) > OTHER_WORK:
        yield Caveat("work", {})
