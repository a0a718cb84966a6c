"""There and back, measured in turn with bare writing and reading, and a save every ten steps."""

from __future__ import annotations

import msgspec
import pytest

from instride.bench.bars import bars
from instride.bench.names import OURS
from instride.bench.report import Often
from instride.cli.render.bench_page import verdict
from tests.unit.bench.gpu_reports import TRIP, kept, report, row


def test_what_is_written_and_read_is_held_against_what_was_measured_in_turn_with_it() -> None:
    slow = msgspec.structs.replace(TRIP, done_s=[8.5, 11.6, 8.9], restore_s=[4.5, 5.4, 5.5])
    late = msgspec.structs.replace(TRIP, first_done_s=[8.5, 11.6, 8.9])
    done, first, back = (
        "done, by direct write", "the first save done, by the same", "restored, by direct read",
    )  # fmt: skip
    for trip, missed in ((TRIP, set()), (slow, {done, back}), (late, {first})):
        made = kept(report(row(OURS, 0.009), round_trip=trip))
        assert {what for what, is_kept in made.items() if not is_kept} == missed


@pytest.mark.parametrize(
    ("done_s", "said"),
    [
        ([8.2, 11.0, 8.1], "1.093x (of 1.093x, 1.100x, 1.080x), at most 1.150x: kept"),
        (
            [8.0, 11.0, 10.4],
            "1.100x (of 1.067x, 1.100x, 1.387x), at most 1.150x: kept in the median, between "
            "1.067x and 1.387x",
        ),
        (
            [8.0, 12.0, 10.4],
            "1.200x (of 1.067x, 1.200x, 1.387x), at most 1.150x: missed in the median, between "
            "1.067x and 1.387x",
        ),
        ([9.0, 12.0, 10.4], "1.200x (of 1.200x, 1.200x, 1.387x), at most 1.150x: missed"),
    ],
)
def test_what_is_measured_in_pairs_is_told_of_each_and_not_in_one_word_if_they_disagree(
    done_s: list[float], said: str
) -> None:
    trip = msgspec.structs.replace(TRIP, done_s=done_s)
    found = {bar.what: bar for bar in bars(report(row(OURS, 0.009), round_trip=trip))}
    assert verdict(found["done, by direct write"]) == said
    back = verdict(found["restored, by direct read"])
    assert back == "1.040x (of 1.040x, 1.022x, 1.043x), at most 1.150x: kept"
    often = verdict(found["a save every ten steps, by 1 %"])
    assert often == (
        "0.60 % (of 0.40 %, 1.20 %, 0.60 %), at most 1.00 %: kept in the median, between 0.40 % "
        "and 1.20 %"
    )


def test_a_training_that_was_restored_is_as_fast_as_before() -> None:
    after = "a step after that, by one before"
    for after_s, is_kept in ((0.1529, True), (0.1531, False)):
        trip = msgspec.structs.replace(TRIP, steps_after_s=[0.2, after_s, after_s])
        assert kept(report(row(OURS, 0.009), round_trip=trip))[after] is is_kept
    assert not kept(report(row(OURS, 0.009), round_trip=None))[after]


def test_what_saving_often_costs_is_held_against_one_in_a_hundred() -> None:
    often = "a save every ten steps, by 1 %"
    assert kept(report(row(OURS, 0.009)))[often]
    assert not kept(
        report(row(OURS, 0.009), often=Often([0.011, 0.004, 0.02], 18, 0, [], [-0.001, 0.002]))
    )[often]
    assert not kept(report(row(OURS, 0.009), often=None))[often]
