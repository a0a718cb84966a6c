"""Jobs that overlap, as a pack and a save do: what of each is due, and when."""

from __future__ import annotations

import pytest

from instride.governor.jobs import Job, Jobs
from tests.unit.governor.simulating import SimulatedTraining, Simulation


def jobs(*wanted: Job) -> Jobs:
    found = Jobs()
    for job in wanted:
        found.add(job, 0)
    return found


def simulation() -> Simulation:
    return Simulation(SimulatedTraining(lambda load: 0.6 * load))


def is_hasty(found: Simulation) -> bool:
    return found.regulator.is_hasty


def reasons_since(found: Simulation, at_s: float) -> set[str]:
    return {decision.reason for when_s, decision in found.decisions if when_s >= at_s}


def test_haste_ends_with_the_job_that_was_in_haste() -> None:
    found = simulation()
    found.begin()
    found.go_on(30)
    save = found.add(1e12, found.now_s + 10)
    found.go_on(20)
    assert is_hasty(found)
    found.end(save)
    assert not is_hasty(found)
    ended_s = found.now_s + 0.01
    found.go_on(120)
    assert "deadline" not in reasons_since(found, ended_s)
    assert found.true_cost(last_s=60) <= 1.5 * 0.02


def test_a_deadline_in_time_is_forgotten_when_its_job_ends() -> None:
    found = simulation()
    found.begin()
    save = found.add(1e6, found.now_s + 30)
    found.go_on(10)
    found.end(save)
    found.go_on(120)
    assert "deadline" not in reasons_since(found, 0.0)


def test_haste_goes_on_when_another_job_ends() -> None:
    found = simulation()
    found.begin(1e12, 30.0)
    pack = found.add(1e12)
    found.go_on(20)
    found.end(pack)
    found.go_on(5)
    assert is_hasty(found)
    assert found.decisions[-1][1].reason == "deadline"


def test_what_is_due_is_not_what_others_have_left() -> None:
    """A hundred gigabytes to pack do not have to be packed by the deadline of a small save."""
    found = simulation()
    found.begin(1e11)
    found.go_on(30)
    found.add(1e9, found.now_s + 60)
    begun_s = found.now_s
    found.go_on(30)
    assert "deadline" not in reasons_since(found, begun_s)


def test_what_was_left_of_a_job_that_was_given_up_is_not_due() -> None:
    found = simulation()
    found.begin(1e9, 80.0)
    pack = found.add(1e11, 80.0)
    found.end(pack)
    found.go_on(30)
    assert "deadline" not in reasons_since(found, 0.0)


def test_how_fast_other_work_went_says_nothing_about_the_next() -> None:
    """Packing takes long for each byte; a save beside it is not late because of that."""
    found = Simulation(SimulatedTraining(lambda load: 0.0))
    found.pace.speeds = [1e6, 1e6, 1e6]
    found.begin()
    found.go_on(120)
    assert found.efforts()[-1] == 1.0
    found.pace.speeds = [1e8, 2e8, 4e8]
    begun_s = found.now_s
    found.add(1.2e10, begun_s + 60)  # which all threads do in half of the time
    found.go_on(10)
    assert reasons_since(found, begun_s) <= {"within-budget"}


def test_the_threads_of_a_job_count_as_long_as_it_goes_on() -> None:
    found = jobs(Job(100, None, 0.25), Job(100, None, 0.5))
    assert found.most_effort == 0.75
    whole = Job(100, None, 1.0)
    found.add(whole, 0)
    assert found.most_effort == 1.0
    found.remove(whole, 0)
    assert found.most_effort == 0.75


def test_what_is_done_counts_for_what_is_due_first() -> None:
    pack, save = Job(1000, None, 1.0), Job(100, 50.0, 1.0)
    found = jobs(pack, save)
    found.see(60)
    assert (save.left_bytes, pack.left_bytes) == (40, 1000)
    found.see(160)
    assert (save.left_bytes, pack.left_bytes) == (0, 940)
    found.remove(save, 160)
    assert found.due(0.0) == (940, None)


def test_without_deadlines_what_began_last_is_done_first() -> None:
    first, second = Job(1000, None, 1.0), Job(100, None, 1.0)
    found = jobs(first, second)
    found.remove(second, 100)
    assert found.due(0.0) == (1000, None)


def test_beside_others_a_job_is_not_done_before_it_ends() -> None:
    """What was done may have been theirs: a deadline that has passed still counts."""
    found = jobs(Job(1000, None, 1.0), Job(100, 50.0, 1.0))
    found.see(500)
    assert found.due(0.0) == (1, 50.0)
    alone = jobs(Job(100, 50.0, 1.0))
    alone.see(500)
    assert alone.due(0.0) == (0, 50.0)


@pytest.mark.parametrize(
    ("now_s", "expected"),
    [(0.0, (1101, 100.0)), (45.0, (101, 50.0)), (60.0, (101, 50.0))],
    ids=["the later one", "the first one soon does", "the first one has passed"],
)
def test_of_several_deadlines_the_one_counts_that_asks_for_most(
    now_s: float, expected: tuple[int, float]
) -> None:
    assert jobs(Job(1000, 100.0, 1.0), Job(100, 50.0, 1.0)).due(now_s) == expected


@pytest.mark.parametrize(("left_s", "is_in_haste"), [(1.0, True), (1e6, False)])
def test_when_one_job_in_haste_ends_another_one_is_as_it_was(
    left_s: float, is_in_haste: bool
) -> None:
    found = simulation()
    found.begin(1e12, 10.0)
    found.go_on(5)
    found.add(1e12, found.now_s + left_s)
    found.go_on(10)
    assert is_hasty(found)
    found.end(found.first)
    assert is_hasty(found) is is_in_haste
    found.go_on(5)
    assert is_hasty(found) is is_in_haste
