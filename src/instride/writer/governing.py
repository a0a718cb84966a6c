"""The governor of a writer: by the beats of its trainer, into its journal."""

from __future__ import annotations

import os

from instride.governor.controlling import LOOKING
from instride.governor.governing import Governor
from instride.governor.model import Cost, Decision
from instride.governor.pace import Pace
from instride.governor.signals import PageSteps, Signals
from instride.store.staggering import most_threads
from instride.writer.hands import Crew
from instride.writer.page import SharedPage
from instride.writer.protocol import Hello
from instride.writer.telling import Told


def crews(hello: Hello, page: SharedPage, told: Told) -> tuple[Crew, Crew]:
    """Hands for what is saved, and for what is packed: under one pace, and one governor if the
    trainer asked for one.

    What they take of a core in any case is the budget, on a machine without idle cores: there they
    pause for half of the time as long as it is not known what they cost."""
    pace = Pace()
    governor = _govern(pace, hello, page, told)
    share = None if hello.budget is None else hello.budget / LOOKING
    saving, packing = Crew(pace, governor, share), Crew(pace, governor, share)
    if governor is not None:
        governor.on_haste = lambda is_hasty: saving.hurry() if is_hasty else None
    return saving, packing


def _govern(pace: Pace, hello: Hello, page: SharedPage, told: Told) -> Governor | None:
    """An image is written as it is, so that there is no lighter codec to take refuge in."""
    if hello.budget is None:
        return None

    def note(decision: Decision) -> None:
        told.note("governor", None, **decision.fields())

    def note_cost(cost: Cost) -> None:
        if cost.share is not None and cost.plus_minus is not None:
            told.note(
                "cost", share=round(cost.share, 5), plus_minus=round(cost.plus_minus, 5),
                s=round(cost.seconds, 3), bytes=cost.num_bytes,
            )  # fmt: skip

    governor = Governor(
        pace,
        Signals(PageSteps(page), trainer_pids=lambda: _alive(hello.trainer_pid)),
        budget=hello.budget,
        most_threads=most_threads(),
        num_codec_steps=0,
        note=note,
        note_cost=note_cost,
    )
    governor.start()
    return governor


def _alive(pid: int) -> list[int]:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return []
    except PermissionError:
        return [pid]
    return [pid]
