"""Runs that evaluate, save, load data and clean up, and what that costs them."""

from __future__ import annotations

from collections.abc import Callable

from instride.steps.model import EventKind, Pauses, Run
from tests.unit.explain.making import Training

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


Story = Callable[[], Run]


def paused(*kinds: EventKind, times: int = 4, pauses: Pauses = Pauses.SAME) -> Story:
    def tell() -> Run:
        training = Training(pauses=pauses)
        for number in range(times):
            training.train(100)
            for kind in kinds:
                training.pause(kind, 4.0 + 6.0 * number)
        training.train(100)
        return training.finish()

    return tell


def rough_split() -> Run:
    training = Training()
    training.pause(EVAL, 9.0)
    for _ in range(4):
        training.train(100)
        training.pause(EVAL, 8.0)
        training.pause(SAVE, 4.0)
    training.train(100)
    return training.finish()


def closing(*kinds: EventKind) -> Story:
    def tell() -> Run:
        training = Training(has_wall=True)
        training.train(100)
        for kind in kinds:
            training.pause(kind, 60.0)
        if not kinds:
            training.wait(60.0)
        return training.finish()

    return tell


def aftermath(times: int, save_s: float = 10.0) -> Story:
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


def slow_clock() -> Run:
    """Every step takes longer than it says."""
    training = Training(pauses=Pauses.NONE, has_wall=True)
    for _ in range(300):
        training.train(1)
        training.now += 0.2
    return training.finish()


def saved_and_lost(times: int, saves: int = 4) -> Story:
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


def saves(*costs: float) -> Run:
    training = Training()
    for seconds in costs:
        training.train(100)
        training.pause(SAVE, seconds)
    training.train(100)
    return training.finish()
