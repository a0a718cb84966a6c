"""The thread of the governor: begins, ends, overlaps, and tells of haste."""

from __future__ import annotations

import threading
import time

import pytest

from instride.governor import governing, phases, regulating
from instride.governor.gauge import Look, look
from instride.governor.governing import Governor
from instride.governor.model import Cost, Decision, Step, Training
from instride.governor.pace import Pace

LIMIT_S = 60.0


class Scene:
    """A training that is as it is told to be."""

    span_s = 0.1
    num_sources = 1
    resolution_s = 0.0

    def __init__(self, state: Training) -> None:
        self.state = state

    def read(self, now_s: float) -> list[Step]:
        return []

    def has_steps(self, now_s: float) -> bool:
        return self.state == "runs"

    def training(self, now_s: float) -> Training:
        return self.state


class Governed:
    def __init__(self, state: Training = "runs", **options: str) -> None:
        self.decisions: list[Decision] = []
        self.costs: list[Cost] = []
        self.is_hasty = threading.Event()
        self.pace = Pace()
        self.governor = Governor(
            self.pace, Scene(state), note=self.decisions.append, note_cost=self.costs.append,
            **options,  # type: ignore[arg-type]
        )  # fmt: skip
        self.governor.on_haste = self._on_haste
        self.governor.start()

    def may_start(self) -> bool:
        return self.pace.may_start

    def await_reason(self, reason: str) -> bool:
        """Whether that is decided before long."""
        for _ in range(6000):
            decision = self.governor.decision
            if decision is not None and decision.reason == reason:
                return True
            time.sleep(LIMIT_S / 6000)
        return False

    def _on_haste(self, is_hasty: bool) -> None:
        if is_hasty:
            self.is_hasty.set()
        else:
            self.is_hasty.clear()


def test_outside_of_jobs_nothing_is_held_back() -> None:
    governed = Governed("runs", mode="after")
    with governed.pace.turn(1):
        pass
    governed.governor.begin(1000)
    assert not governed.may_start()
    cost = governed.governor.end()
    assert governed.may_start()
    with governed.pace.turn(1):
        pass
    assert governed.costs == [cost]
    governed.governor.close()


def test_jobs_that_overlap_are_governed_until_the_last_one_ends() -> None:
    governed = Governed("runs", mode="after")
    governed.governor.begin(1000)
    governed.governor.begin(1000)
    governed.governor.end()
    assert not governed.may_start()
    governed.governor.end()
    assert governed.may_start()
    assert len(governed.costs) == 1
    governed.governor.close()


def test_haste_is_told_when_a_deadline_has_passed_and_ends_with_the_job() -> None:
    governed = Governed()
    governed.governor.begin(1 << 40, deadline_s=0.0)
    assert governed.is_hasty.wait(LIMIT_S)
    assert governed.decisions[-1].reason == "deadline"
    governed.governor.end()
    assert not governed.is_hasty.is_set()
    governed.governor.close()


def test_haste_ends_with_the_save_that_a_pack_goes_on_after() -> None:
    governed = Governed()
    governed.governor.begin(1 << 40)
    governed.governor.begin(1 << 30, deadline_s=0.0)
    assert governed.is_hasty.wait(LIMIT_S)
    governed.governor.end()
    assert not governed.is_hasty.is_set()
    assert governed.await_reason("unknown-yet")
    governed.governor.end()
    governed.governor.close()


def test_a_deadline_that_has_not_come_when_its_save_is_done_never_comes() -> None:
    """Not even by the clock of a machine."""
    governed = Governed()
    governed.governor.begin(1 << 40)
    governed.governor.begin(1 << 30, deadline_s=time.monotonic() + 0.2)
    governed.governor.end()
    assert not governed.is_hasty.wait(1.5)
    governed.governor.end()
    governed.governor.close()


def test_a_pack_that_ends_first_leaves_the_save_its_deadline() -> None:
    """Each thread ends the job that it began, whichever came last."""
    governed = Governed()
    has_begun, may_end = threading.Event(), threading.Event()

    def pack() -> None:
        governed.governor.begin(1 << 40)
        has_begun.set()
        may_end.wait(LIMIT_S)
        governed.governor.end()

    thread = threading.Thread(target=pack)
    thread.start()
    has_begun.wait(LIMIT_S)
    governed.governor.begin(1 << 30, deadline_s=0.0)
    assert governed.is_hasty.wait(LIMIT_S)
    may_end.set()
    thread.join()
    assert governed.is_hasty.is_set()
    governed.governor.expect(None)
    assert governed.await_reason("unknown-yet")
    assert not governed.is_hasty.is_set()
    governed.governor.end()
    governed.governor.close()


def test_a_job_that_begins_after_the_end_is_not_held_back() -> None:
    governed = Governed("runs", mode="after")
    governed.governor.begin(1000)
    governed.governor.close()
    assert governed.may_start()
    governed.governor.begin(1000)
    assert governed.may_start()
    entered = threading.Event()

    def work() -> None:
        with governed.pace.turn(1):
            entered.set()

    threading.Thread(target=work, daemon=True).start()
    assert entered.wait(LIMIT_S)
    governed.governor.end()


def test_between_jobs_it_looks_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = threading.Semaphore(0)

    def look_and_tell() -> Look:
        looked.release()
        return look()

    monkeypatch.setattr(phases, "REST_S", 0.01)
    monkeypatch.setattr(regulating, "REST_S", 0.01)
    monkeypatch.setattr(governing, "look", look_and_tell)
    governed = Governed()
    for _ in range(3):
        assert looked.acquire(timeout=LIMIT_S)
    governed.governor.close()


def test_closing_lets_everybody_go() -> None:
    governed = Governed("runs", mode="after")
    governed.governor.begin(1000)
    done = threading.Event()

    def work() -> None:
        with governed.pace.turn(1):
            done.set()

    thread = threading.Thread(target=work)
    thread.start()
    governed.governor.close()
    assert done.wait(LIMIT_S)
    thread.join()


def test_a_governor_that_was_never_started_can_be_closed() -> None:
    Governor(Pace(), Scene("over")).close()


def test_a_journal_that_cannot_be_written_does_not_stop_it() -> None:
    def note(decision: Decision) -> None:
        raise OSError("no space")

    governor = Governor(Pace(), Scene("over"), note=note)
    governor.begin(1000)
    assert governor.end().num_bytes == 0
    governor.close()


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (Cost(0.008, 0.003, 41.2, 10, None), "cost training 0.8 % \u00b1 0.3 for 41 s"),
        (Cost(None, None, 41.2, 10, None), "cost training: unknown for 41 s, no steps were seen"),
        (
            Cost(None, None, 3.0, 10, 24),
            "cost training: unknown yet for 3 s, 24 more steps would tell",
        ),
    ],
)
def test_a_cost_is_a_sentence(cost: Cost, text: str) -> None:
    assert cost.text() == text
