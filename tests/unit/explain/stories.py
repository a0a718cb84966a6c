"""A run for every finding and for every unknown, by its id."""

from __future__ import annotations

from collections.abc import Callable

from instride.steps.model import EventKind, Pauses, Run, Sampling
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


def _never_again(launches: int) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        training.train(100)
        for _ in range(launches):
            training.resume(100, 60.0, has_banner=True)
            training.wait(30.0)
        return training.finish()

    return tell


def _steps(
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
    training.log.note("the year is not in the log")
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
    "warmup": [_steps((1, 30.0), (200, 1.0)), _steps((3, 9.0), (200, 1.0)), _restart(3, 50, 9.0)],
    "data-stalls": [
        _steps(
            (600, lambda step: 4.0 if step % 100 == 50 else 0.5),
            data=lambda step: 3.6 if step % 100 == 50 else 0.01,
        )
    ],
    "data-chronic": [_steps((200, 2.4), data=0.8)],
    "startup": [_startup],
    "restart": [_restart(1, 101, 600.0), _restart(3, 50, 600.0)],
    "never-again": [_never_again(1), _never_again(2)],
    "lost": [_restart(1, 60, 9.0), _restart(3, 50, 9.0), _restart(1, 0, 9.0)],
    "periodic": [
        _steps((800, lambda step: 3.0 if step % 100 == 0 else 1.0)),
        _steps((4000, lambda step: 2.2 if step % 189 == 0 or step % 190 == 0 else 1.0)),
    ],
    "slow-zone": [
        _steps((200, 1.0), (30, 2.0), (200, 1.0)),
        _steps((200, 1.0), (30, 2.0), (90, 1.0), (17, 3.0), (200, 1.0)),
    ],
    "slow-steps": [
        _steps((300, lambda step: 9.0 if step == 100 else 1.0)),
        _steps((300, lambda step: 9.0 if step in (100, 119) else 1.0)),
    ],
    "slower-since": [_steps((300, 1.0), (300, 1.5))],
    "faster-since": [_steps((300, 9.0), (300, 1.5))],
}

UNKNOWNS: dict[str, list[Story]] = {
    "sampled": [
        _steps((200 * every, 1.0), sampling=Sampling.EVERY_KTH, every=every)
        for every in (2, 3, 10, 11, 21)
    ],
    "averaged": [_steps((200, 1.0), sampling=Sampling.AVERAGE, every=10)],
    "totals-only": [_totals],
    "coarse-clock": [_steps((200, 2.3), resolution_s=1.0)],
    "hidden": [
        _pauses(EVAL, pauses=Pauses.NONE),
        _pauses(SAVE, pauses=Pauses.NONE, times=1),
        _pauses(EVAL, SAVE, pauses=Pauses.NONE),
    ],
    "joint": [_pauses(EVAL, SAVE)],
    "clock-backwards": [_backwards(1), _backwards(3)],
    "gaps": [_restart(1, 50, 0.0, has_wall=False)],
    "ranks": [_ranks],
    "note": [_note],
}
