"""Runs that start, compile, crash, resume, drift, and whose steps are slow for no stated reason."""

from __future__ import annotations

from collections.abc import Callable

from instride.steps.model import EventKind, Pauses, Run, Sampling
from instride.steps.notes import Note
from tests.unit.explain.making import Training
from tests.unit.explain.pausing import (
    SAVE,
    Story,
)


def restarted(times: int, resumed_after: int, gap_s: float, has_wall: bool = True) -> Story:
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


def unused_save(is_named: bool) -> Story:
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


def at_steps(slow: set[int], longer_s: float, base_s: float = 1.0) -> Callable[[int], float]:
    """The time of a step: ordinary, or longer for some."""
    return lambda step: base_s + (longer_s if step in slow else 0.0)


IRREGULAR = {61, 97, 180, 233, 311, 347, 471, 530, 612, 741}


BORDERS = {int(95.5 * number) for number in range(1, 11)}


def slow_start() -> Run:
    training = Training(has_wall=True)
    training.wait(300.0)
    training.train(100)
    return training.finish()


def totals() -> Run:
    training = Training(Sampling.TOTALS, Pauses.NONE, every=10)
    training.train(200)
    run = training.finish()
    run.total_s = 200.0
    return run


def backwards(times: int) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        for _ in range(times):
            training.train(50)
            training.now -= 3600.0
        training.train(50)
        return training.finish()

    return tell


def ranks() -> Run:
    training = Training()
    for _ in range(100):
        training.train(1)
        training.step -= 1
        training.train(1)
    return training.finish()


def noted() -> Run:
    training = Training()
    training.train(50)
    training.log.note(Note("batch-size", {"size": 128}))
    return training.finish()
