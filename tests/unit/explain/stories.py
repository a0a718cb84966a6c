"""A run for every finding and for every unknown, by its id."""

from __future__ import annotations

from collections.abc import Callable
from math import exp

from instride.steps.model import EventKind, Pauses, Run, Sampling
from instride.steps.notes import Note
from tests.unit.explain.making import Training

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE

Story = Callable[[], Run]


def _pauses(*kinds: EventKind, times: int = 4, pauses: Pauses = Pauses.SAME) -> Story:
    def tell() -> Run:
        training = Training(pauses=pauses)
        for number in range(times):
            training.train(100)
            for kind in kinds:
                training.pause(kind, 4.0 + 6.0 * number)
        training.train(100)
        return training.finish()

    return tell


def _rough_split() -> Run:
    training = Training()
    training.pause(EVAL, 9.0)
    for _ in range(4):
        training.train(100)
        training.pause(EVAL, 8.0)
        training.pause(SAVE, 4.0)
    training.train(100)
    return training.finish()


def _closing(*kinds: EventKind) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        training.train(100)
        for kind in kinds:
            training.pause(kind, 60.0)
        if not kinds:
            training.wait(60.0)
        return training.finish()

    return tell


def _aftermath(times: int, save_s: float = 10.0) -> Story:
    def tell() -> Run:
        training = Training()
        training.train(300)
        for _ in range(times):
            training.pause(SAVE, save_s)
            training.train(1)
            training.train(20, 3.0)
            training.train(300)
        return training.finish()

    return tell


def _restart(times: int, resumed_after: int, gap_s: float, has_wall: bool = True) -> Story:
    def tell() -> Run:
        training = Training(has_wall=has_wall)
        for number in range(times):
            training.train(1, 9.0)
            training.train(100 + 7 * number)
            training.resume(resumed_after, gap_s, has_banner=True)
        training.train(300)
        return training.finish()

    return tell


def never_again(launches: int) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        training.train(100)
        for _ in range(launches):
            training.resume(100, 60.0, has_banner=True)
            training.wait(30.0)
        return training.finish()

    return tell


def failed_launches(launches: int) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        for _ in range(launches + 1):
            training.mark(EventKind.START)
            training.wait(60.0)
        training.train(100)
        return training.finish()

    return tell


def _unused_save(is_named: bool) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        training.train(100)
        training.pause(SAVE, 4.0, is_named=is_named)
        training.train(10)
        training.resume(0, 600.0, has_banner=True)
        training.train(300)
        return training.finish()

    return tell


def steps(
    *parts: tuple[int, float | Callable[[int], float]],
    data: float | Callable[[int], float] | None = None,
    sampling: Sampling = Sampling.EVERY_STEP,
    every: int = 1,
    resolution_s: float = 0.0,
) -> Story:
    def tell() -> Run:
        has_wall = bool(resolution_s)
        training = Training(sampling, every=every, has_wall=has_wall, resolution_s=resolution_s)
        for num_steps, seconds in parts:
            training.train(num_steps, seconds, data)
        return training.finish()

    return tell


def first_eval(first_s: float = 20.0, times: int = 5) -> Story:
    def tell() -> Run:
        training = Training()
        for number in range(times):
            training.train(100)
            training.pause(EVAL, 4.0 if number else first_s)
        training.train(100)
        return training.finish()

    return tell


def cleanup(times: int, is_stated: bool = False) -> Story:
    def tell() -> Run:
        training = Training()
        for _ in range(times):
            training.train(100)
            training.pause(SAVE, 4.0, is_stated=is_stated)
            if not is_stated:
                training.train(50)
            training.pause(EventKind.CLEANUP, 6.0, is_stated=is_stated)
        training.train(100)
        return training.finish()

    return tell


def compiled(*at: int) -> Story:
    def tell() -> Run:
        training = Training()
        for step in at:
            training.train(step - training.step)
            training.mark(EventKind.COMPILE)
            training.train(1, 15.0)
        training.train(300)
        return training.finish()

    return tell


def flushed(*at: int) -> Story:
    def tell() -> Run:
        training = Training()
        for step in at:
            training.train(step - training.step)
            training.mark(EventKind.FLUSH)
            training.train(1, 4.0)
        training.train(300)
        return training.finish()

    return tell


def after_evals(*slow: int, every: int = 100, times: int = 5, longer_s: float = 8.0) -> Story:
    """Evaluations, and a slow step after those of the given numbers."""

    def tell() -> Run:
        training = Training()
        for number in range(times):
            training.train(every)
            training.pause(EVAL, 5.0)
            training.train(1)
            training.train(1, 1.0 + (longer_s if number in slow else 0.0))
        training.train(every)
        return training.finish()

    return tell


def epochs(
    length: int = 50, times: int = 6, first_s: float = 6.0, wait_s: float | None = None
) -> Story:
    def tell() -> Run:
        training = Training()
        for number in range(times):
            training.mark(EventKind.EPOCH)
            # Epochs differ by a step, so that they are no comb.
            training.train(1, first_s, None if wait_s is None else 0.01 + wait_s)
            training.train(length + number % 2, 1.0, None if wait_s is None else 0.01)
        return training.finish()

    return tell


def crashes(times: int, num_steps: int = 20) -> Story:
    """A process that comes back and never gets further than the first one did."""

    def tell() -> Run:
        training = Training(has_wall=True)
        training.train(200)
        for _ in range(times):
            training.resume(150, 60.0, has_banner=True)
            training.train(num_steps)
        training.resume(150, 60.0, has_banner=True)
        training.train(300)
        return training.finish()

    return tell


def resumed(after_s: float, resumed_after: int = 190) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        training.train(200)
        training.resume(resumed_after, 5.0, has_banner=True)
        training.train(300, after_s)
        return training.finish()

    return tell


def off_the_clock(
    kind: EventKind | None = EVAL, seconds: float = 30.0, pauses: Pauses = Pauses.NONE
) -> Story:
    """A trainer that stops its clock, beside a wall clock that goes on."""

    def tell() -> Run:
        training = Training(pauses=pauses, has_wall=True)
        for _ in range(4):
            training.train(100)
            if kind is None:
                training.now += seconds
            else:
                training.pause(kind, seconds)
        training.train(100)
        return training.finish()

    return tell


def _slow_clock() -> Run:
    """Every step takes longer than it says."""
    training = Training(pauses=Pauses.NONE, has_wall=True)
    for _ in range(300):
        training.train(1)
        training.now += 0.2
    return training.finish()


def at_steps(slow: set[int], longer_s: float, base_s: float = 1.0) -> Callable[[int], float]:
    """The time of a step: ordinary, or longer for some."""
    return lambda step: base_s + (longer_s if step in slow else 0.0)


IRREGULAR = {61, 97, 180, 233, 311, 347, 471, 530, 612, 741}
BORDERS = {int(95.5 * number) for number in range(1, 11)}


def _saved_and_lost(times: int, saves: int = 4) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        for _ in range(times):
            for _ in range(saves):
                training.train(200)
                training.pause(SAVE, 3.0)
            training.train(60)
            training.resume(training.step - 60, 30.0, has_banner=True)
        training.train(100)
        return training.finish()

    return tell


def sized_saves(gigabytes: float, *, is_stated: bool = True, is_closing: bool = False) -> Story:
    """Saves of 20 seconds whose size the log prints beside them."""

    def tell() -> Run:
        training = Training(has_wall=is_closing)
        for _ in range(1 if is_closing else 3):
            training.train(100)
            training.log.size(1e9 * gigabytes, training.line + 1)
            training.pause(SAVE, 20.0, is_stated=is_stated)
        if not is_closing:
            training.train(100)
        return training.finish()

    return tell


def _startup() -> Run:
    training = Training(has_wall=True)
    training.wait(300.0)
    training.train(100)
    return training.finish()


def _totals() -> Run:
    training = Training(Sampling.TOTALS, Pauses.NONE, every=10)
    training.train(200)
    run = training.finish()
    run.total_s = 200.0
    return run


def _backwards(times: int) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        for _ in range(times):
            training.train(50)
            training.now -= 3600.0
        training.train(50)
        return training.finish()

    return tell


def _ranks() -> Run:
    training = Training()
    for _ in range(100):
        training.train(1)
        training.step -= 1
        training.train(1)
    return training.finish()


def _note() -> Run:
    training = Training()
    training.train(50)
    training.log.note(Note("batch-size", {"size": 128}))
    return training.finish()


FINDINGS: dict[str, list[Story]] = {
    "eval": [_pauses(EVAL), _pauses(EVAL, times=1)],
    "save": [_pauses(SAVE), _pauses(SAVE, times=1)],
    "eval-and-save": [_pauses(EVAL, SAVE), _pauses(EVAL, SAVE, times=1)],
    "closing-eval": [_closing(EVAL)],
    "closing-save": [_closing(SAVE)],
    "closing-eval-and-save": [_closing(EVAL, SAVE)],
    "closing-unknown": [_closing()],
    "aftermath": [
        _aftermath(1),
        _aftermath(4),
        _aftermath(1, save_s=0.0),
        _aftermath(4, save_s=0.0),
        _aftermath(4, save_s=99.0),
    ],
    "warmup": [steps((1, 30.0), (200, 1.0)), steps((3, 9.0), (200, 1.0)), _restart(3, 50, 9.0)],
    "data-stalls": [
        steps(
            (600, lambda step: 4.0 if step % 100 == 50 else 0.5),
            data=lambda step: 3.6 if step % 100 == 50 else 0.01,
        )
    ],
    "data-chronic": [steps((200, 2.4), data=0.8)],
    "startup": [_startup, failed_launches(1)],
    "restart": [_restart(1, 101, 600.0), _restart(3, 50, 600.0)],
    "failed-launches": [failed_launches(1), failed_launches(2)],
    "never-again": [never_again(1), never_again(2)],
    "lost": [_restart(1, 60, 9.0), _restart(3, 50, 9.0), _restart(1, 0, 9.0)],
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
    "growing-saves": [_pauses(SAVE)],
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
    "hidden-time": [off_the_clock(), off_the_clock(None), _slow_clock],
    "faster-since": [steps((300, 9.0), (300, 1.5))],
}

ADVICE: dict[str, list[Story]] = {
    "eval-interval": [_pauses(EVAL), _pauses(EVAL, times=1), _pauses(EVAL, SAVE, times=9)],
    "save-interval": [_pauses(SAVE), _aftermath(4), _aftermath(9, save_s=99.0)],
    "save-by-failures": [_saved_and_lost(2), _saved_and_lost(3), _saved_and_lost(2, saves=1)],
}

UNKNOWNS: dict[str, list[Story]] = {
    "sampled": [
        steps((200 * every, 1.0), sampling=Sampling.EVERY_KTH, every=every)
        for every in (2, 3, 10, 11, 21)
    ],
    "averaged": [steps((200, 1.0), sampling=Sampling.AVERAGE, every=10)],
    "totals-only": [_totals],
    "coarse-clock": [steps((200, 2.3), resolution_s=1.0)],
    "hidden": [
        _pauses(EVAL, pauses=Pauses.NONE),
        _pauses(SAVE, pauses=Pauses.NONE, times=1),
        _pauses(EVAL, SAVE, pauses=Pauses.NONE),
    ],
    "joint": [_pauses(EVAL, SAVE)],
    "rough-split": [_rough_split],
    "clock-backwards": [_backwards(1), _backwards(3)],
    "gaps": [_restart(1, 50, 0.0, has_wall=False)],
    "unused-save": [_unused_save(True), _unused_save(False)],
    "ranks": [_ranks],
    "note-batch-size": [_note],
}
