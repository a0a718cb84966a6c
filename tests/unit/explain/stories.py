"""A run for every finding and for every unknown, by its id."""

from __future__ import annotations

from math import exp

from instride.steps.model import Pauses, Sampling
from tests.unit.explain.pausing import (
    EVAL,
    SAVE,
    Story,
    after_evals,
    aftermath,
    cleanup,
    closing,
    epochs,
    first_eval,
    off_the_clock,
    paused,
    rough_split,
    saved_and_lost,
    sized_saves,
    slow_clock,
)
from tests.unit.explain.running import (
    BORDERS,
    IRREGULAR,
    at_steps,
    backwards,
    compiled,
    crashes,
    failed_launches,
    flushed,
    never_again,
    noted,
    ranks,
    restarted,
    resumed,
    slow_start,
    steps,
    totals,
    unused_save,
)

FINDINGS: dict[str, list[Story]] = {
    "eval": [paused(EVAL), paused(EVAL, times=1)],
    "save": [paused(SAVE), paused(SAVE, times=1)],
    "eval-and-save": [paused(EVAL, SAVE), paused(EVAL, SAVE, times=1)],
    "closing-eval": [closing(EVAL)],
    "closing-save": [closing(SAVE)],
    "closing-eval-and-save": [closing(EVAL, SAVE)],
    "closing-unknown": [closing()],
    "aftermath": [
        aftermath(1),
        aftermath(4),
        aftermath(1, save_s=0.0),
        aftermath(4, save_s=0.0),
        aftermath(4, save_s=99.0),
    ],
    "warmup": [steps((1, 30.0), (200, 1.0)), steps((3, 9.0), (200, 1.0)), restarted(3, 50, 9.0)],
    "data-stalls": [
        steps(
            (600, lambda step: 4.0 if step % 100 == 50 else 0.5),
            data=lambda step: 3.6 if step % 100 == 50 else 0.01,
        )
    ],
    "data-chronic": [steps((200, 2.4), data=0.8)],
    "startup": [slow_start, failed_launches(1)],
    "restart": [restarted(1, 101, 600.0), restarted(3, 50, 600.0)],
    "failed-launches": [failed_launches(1), failed_launches(2)],
    "never-again": [never_again(1), never_again(2)],
    "lost": [restarted(1, 60, 9.0), restarted(3, 50, 9.0), restarted(1, 0, 9.0)],
    "periodic": [
        steps((800, lambda step: 3.0 if step % 100 == 0 else 1.0)),
        steps((4000, lambda step: 2.2 if step % 189 == 0 or step % 190 == 0 else 1.0)),
    ],
    "slow-zone": [
        steps((200, 1.0), (30, 2.0), (200, 1.0)),
        steps((200, 1.0), (30, 2.0), (90, 1.0), (17, 3.0), (200, 1.0)),
    ],
    "slow-steps": [
        steps((300, lambda step: 9.0 if step == 100 else 1.0)),
        steps((300, lambda step: 9.0 if step in (100, 119) else 1.0)),
    ],
    "slower-since": [steps((300, 1.0), (300, 1.5)), resumed(1.5, resumed_after=0)],
    "slower-since-resume": [resumed(1.5)],
    "first-eval": [first_eval()],
    "cleanup": [cleanup(1), cleanup(4), cleanup(4, is_stated=True)],
    "growing-saves": [paused(SAVE)],
    "slow-filesystem": [sized_saves(0.2), sized_saves(0.2, is_closing=True)],
    "recompilation": [
        compiled(150),
        compiled(150, 233),
        after_evals(0),
        after_evals(0, 1),
    ],
    "epoch-stalls": [epochs(), epochs(wait_s=5.0)],
    "worker-turns": [
        steps((800, lambda step: 3.0 if step % 8 == 0 else 1.0)),
        steps(
            (800, lambda step: 3.0 if step % 8 == 0 else 1.0),
            data=lambda step: 2.01 if step % 8 == 0 else 0.01,
        ),
    ],
    "shard-switches": [steps((1000, at_steps(BORDERS, 3.0)))],
    "crash-loop": [crashes(3), never_again(3)],
    "allocator-flushes": [flushed(150), flushed(150, 233, 241)],
    "collector-pauses": [steps((800, at_steps(IRREGULAR, 0.6, 0.4)))],
    "drift": [
        steps((1200, lambda step: 1.0 + step / 1200)),
        steps((1200, lambda step: 1.0 + 0.5 * (1 - exp(-step / 250)))),
    ],
    "hidden-time": [off_the_clock(), off_the_clock(None), slow_clock],
    "faster-since": [steps((300, 9.0), (300, 1.5))],
}


ADVICE: dict[str, list[Story]] = {
    "eval-interval": [paused(EVAL), paused(EVAL, times=1), paused(EVAL, SAVE, times=9)],
    "save-interval": [paused(SAVE), aftermath(4), aftermath(9, save_s=99.0)],
    "save-by-failures": [saved_and_lost(2), saved_and_lost(3), saved_and_lost(2, saves=1)],
}


UNKNOWNS: dict[str, list[Story]] = {
    "sampled": [
        steps((200 * every, 1.0), sampling=Sampling.EVERY_KTH, every=every)
        for every in (2, 3, 10, 11, 21)
    ],
    "averaged": [steps((200, 1.0), sampling=Sampling.AVERAGE, every=10)],
    "totals-only": [totals],
    "coarse-clock": [steps((200, 2.3), resolution_s=1.0)],
    "hidden": [
        paused(EVAL, pauses=Pauses.NONE),
        paused(SAVE, pauses=Pauses.NONE, times=1),
        paused(EVAL, SAVE, pauses=Pauses.NONE),
    ],
    "joint": [paused(EVAL, SAVE)],
    "rough-split": [rough_split],
    "clock-backwards": [backwards(1), backwards(3)],
    "gaps": [restarted(1, 50, 0.0, has_wall=False)],
    "unused-save": [unused_save(True), unused_save(False)],
    "ranks": [ranks],
    "note-batch-size": [noted],
}
