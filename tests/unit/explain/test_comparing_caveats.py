"""What of two runs cannot be compared, and is said instead."""

from __future__ import annotations

import pytest

from instride.explain.spans import Owner
from instride.steps.model import Pauses, Sampling
from tests.unit.explain.making import Training
from tests.unit.explain.pairs import (
    EVAL,
    SAVE,
    Compare,
    caveats_of,
    change_of,
    foreign,
    made,
    owner,
    plain,
)


def test_a_log_too_short_for_a_save_does_not_say_it_is_gone(compared: Compare) -> None:
    before, after = made(2000, every=500, pause_s=50.0, slow=40), plain(300)
    for one, other, side in ((before, after, "after"), (after, before, "before")):
        comparison = compared(one, other)
        assert not comparison.is_different
        assert {each.change for each in comparison.findings} == {"unseen"}
        assert owner(comparison, Owner.SAVE).won_per_1000_s is None
        facts = caveats_of(comparison)["short"]
        assert facts == {"owner": "save", "side": side, "steps": 300, "every": 500}
        assert len(comparison.caveats) == 1


def test_a_short_log_that_marks_a_free_save_says_it_is_gone(compared: Compare) -> None:
    after = made(300, every=250)
    comparison = compared(made(2000, every=500, pause_s=50.0), after)
    assert change_of(comparison, "save").change == "gone"
    assert "short" not in caveats_of(comparison)


def test_time_that_a_log_hides_is_not_won(compared: Compare) -> None:
    hiding = made(pause_s=20.0, training=Training(pauses=Pauses.NONE))
    comparison = compared(made(pause_s=20.0), hiding)
    assert change_of(comparison, "save").change == "unseen"
    assert comparison.won_per_1000_s == pytest.approx(0, abs=0.01)
    assert caveats_of(comparison)["hidden"] == {"owner": "save", "side": "after"}


@pytest.mark.parametrize("is_swapped", [False, True])
def test_waiting_for_data_is_not_gone_where_a_log_never_tells_it(
    compared: Compare, is_swapped: bool
) -> None:
    waiting = Training()
    waiting.train(500, 1.0, data=0.4)
    runs = [waiting.finish(), plain(500)]
    comparison = compared(*(runs[::-1] if is_swapped else runs))
    assert change_of(comparison, "data-chronic").change == "unseen"
    assert "data" not in {group.name for group in comparison.groups}
    side = "after" if is_swapped else "before"
    assert caveats_of(comparison)["data"] == {"has_data": side}
    assert comparison.won_per_1000_s == pytest.approx(0, abs=0.01)


def test_only_one_log_with_a_clock_is_said(compared: Compare) -> None:
    clocked = made(pause_s=20.0, training=Training(has_wall=True))
    assert caveats_of(compared(clocked, made(pause_s=20.0)))["wall"] == {"has_wall": "before"}


def test_different_sampling_is_said(compared: Compare) -> None:
    tenth = made(training=Training(Sampling.EVERY_KTH, every=10))
    assert caveats_of(compared(plain(), tenth))["sampling"] == {"before": 1, "after": 10}


def test_different_trainers_are_said(compared: Compare) -> None:
    titles = caveats_of(compared(plain(), foreign()))["dialects"]
    assert titles == {"before": "Made up", "after": "Foreign"}


def test_crashes_are_not_counted(compared: Compare) -> None:
    training = Training(has_wall=True)
    training.train(500)
    training.resume(400, 3600.0, has_banner=True)
    training.train(600)
    calm = Training(has_wall=True)
    calm.train(1000)
    comparison = compared(training.finish(), calm.finish())
    assert comparison.before.num_steps == 1000
    assert not comparison.is_different
    assert comparison.won_per_1000_s == pytest.approx(0, abs=1)
    assert "accidents" in caveats_of(comparison)
    assert change_of(comparison, "lost").change == "gone"


def test_pauses_that_are_not_split_are_compared_together(compared: Compare) -> None:
    training = Training()
    for _ in range(6):
        training.train(100)
        training.pause(EVAL, 8.0)
        training.pause(SAVE, 6.0)
    training.train(100)
    comparison = compared(training.finish(), made(600, pause_s=6.0))
    assert caveats_of(comparison)["joint"] == {"side": "before"}
    assert [group.name for group in comparison.groups] == ["eval+save"]


def test_a_pause_seen_once_gives_a_rough_rate(compared: Compare) -> None:
    comparison = compared(made(150, pause_s=20.0), made(150, pause_s=5.0))
    assert caveats_of(comparison)["single"]["owner"] == "save"


def test_a_save_that_cost_nothing_was_seen_all_the_same(compared: Compare) -> None:
    training = Training()
    training.train(100)
    training.mark(SAVE)
    training.train(100)
    training.pause(SAVE, 20.0)
    training.train(60)
    comparison = compared(training.finish(), plain(260))
    assert "single" not in caveats_of(comparison)
    rate = owner(comparison, Owner.SAVE).before.per_1000_s
    assert rate == pytest.approx(20.0 / 200 * 1000)
