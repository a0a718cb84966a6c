"""Locking an arena for GPUs beside training, a piece now and then.

While a piece is being locked nothing can be launched. Nobody misses that while the GPU still has
work of the last step to do, so that is when most of it is done.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

from instride.snapshot.pages import gently
from instride.snapshot.runtime import letting_others_capture
from instride.system.interpreter import giving_way
from instride.system.priority import make_thread_modest

if TYPE_CHECKING:
    from instride.snapshot.arena import Arena

BREATH_S = 0.00015
"""Between two pieces that are locked while the GPU has work to do: a loop that does not wait for it
launches some more, and goes on from that once there is nothing left to hide behind."""
PACE_S = 0.1
"""Between two pieces otherwise. Each of them holds up whoever launches by a millisecond or two."""
UNSEEN_PACE_S = 0.02
"""The same where no steps are seen, so that there will never be anything to hide behind."""
LOOK_S = 0.001
"""Between two looks at pages that somebody else asked for."""


def lock_gently(arena: Arena, device: torch.device) -> None:
    """All of it, close behind those who ask for its pages; those that nobody asked for as well."""
    make_thread_modest(preempts=False)
    with (
        torch.cuda.device(device),
        letting_others_capture(),
        arena.backlog.watched(device),
    ):
        while _lock_next(arena):
            pass


def _lock_next(arena: Arena) -> bool:
    """Lock a piece, or see to it that there are pages for one; whether there may be more."""
    if not arena.has_unlocked():
        if arena.is_asked_for():
            time.sleep(LOOK_S)
            return True
        # Somebody else may have asked for the last pages since, and have them by now.
        return arena.ask_for_next(gently()) or arena.has_unlocked() or arena.is_asked_for()
    backlog = arena.backlog
    backlog.await_some(PACE_S if backlog.is_marked else UNSEEN_PACE_S)
    # Whoever launches takes the interpreter back at once: between any two pieces, this thread would
    # have to wait until that one must hand it over.
    with giving_way():
        if arena.register_next():
            time.sleep(BREATH_S)
    return True
