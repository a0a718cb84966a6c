"""Timestamps, elapsed times and numbers, as logs print them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.steps.clocks import count, elapsed_s, stamp, stamp_before

MOMENT = datetime(2026, 5, 17, 12, 54, 40, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-05-17 12:54:40", MOMENT),
        ("2026-05-17T12:54:40", MOMENT),
        ("2026-05-17,12:54:40", MOMENT),
        ("2026-05-17_12:54:40", MOMENT),
        ("2026-05-17 12:54:40.5", MOMENT + 0.5),
        ("2026-05-17 12:54:40,566", MOMENT + 0.566),
        ("2026-05-17T12:54:40.123456789", MOMENT + 0.123456789),
        ("2026-05-17T12:54:40Z", MOMENT),
        ("2026-05-17T12:54:40+02:00", MOMENT - 7200),
        ("2026-05-17T12:54:40.25-0530", MOMENT + 0.25 + 5.5 * 3600),
        ("2026-05-17 12:54:60", MOMENT + 20),
    ],
)
def test_a_timestamp_is_seconds_since_1970(text: str, seconds: float) -> None:
    for line in (text, f"[rank0]: {text} - root - INFO - step: 1", f"[{text}] loss 1"):
        assert stamp(line) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "step 5: loss 2.3",
        "12:54:40",
        "2026-05-17",
        "2026-13-17 12:54:40",
        "2026-02-30 12:54:40",
        "2026-05-17 25:54:40",
        "2026-05-17 12:61:40",
        "0000-00-00 00:00:00",
        "26-05-17 12:54:40",
    ],
)
def test_what_is_no_timestamp_is_none(text: str) -> None:
    assert stamp(text) is None


def test_the_first_timestamp_of_a_line_counts() -> None:
    assert stamp("2026-05-17 12:54:40 resumed from 2020-01-01 00:00:00") == MOMENT


def test_only_the_prefix_of_a_record_is_looked_at() -> None:
    line = "2026-05-17 12:54:40 iter 5: started 2020-01-01 00:00:00"
    assert stamp_before(line, line.index("iter")) == MOMENT
    late = "[rank0] INFO train: iter 5: started 2020-01-01 00:00:00"
    assert stamp_before(late, late.index("iter")) is None
    assert stamp_before("iter 5", 0) is None


def test_a_timestamp_that_the_record_cuts_is_none() -> None:
    assert stamp_before("2026-05-17 12:54:40", 18) is None
    assert stamp_before("2026-05-17 12:54:40", 19) == MOMENT


def test_a_line_that_begins_like_the_one_before_is_read_on_its_own() -> None:
    after = {
        "40": 0,
        "41.5": 1.5,
        "42,25 - step": 2.25,
        "40Z": 0,
        "40+02:00": -7200,
        "59+0200": 19 - 7200,
    }
    for text, seconds in [*after.items(), *reversed(after.items())]:
        assert stamp(f"[titan] 2026-05-17 12:54:{text}") == pytest.approx(MOMENT + seconds)
    assert stamp("[titan] 2026-05-17 12:54:4") is None
    assert stamp("[titan] 2026-05-17 12:54:x, until 2026-05-17 12:54:40") == MOMENT
    assert stamp_before("[titan] 2026-05-17 12:54:40", 26) is None


moments = st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2199, 1, 1)).flatmap(
    lambda moment: st.integers(-14 * 4, 14 * 4).map(
        lambda quarters: moment.replace(tzinfo=timezone(timedelta(minutes=15 * quarters)))
    )
)


@given(moments)
def test_any_moment_is_read_as_it_was_written(moment: datetime) -> None:
    assert stamp(moment.isoformat()) == pytest.approx(moment.timestamp(), abs=1e-5)


@given(st.lists(moments, min_size=1, max_size=100))
def test_the_order_of_the_lines_changes_no_timestamp(many: list[datetime]) -> None:
    read = [stamp(moment.isoformat(" ")) for moment in [*many, *reversed(many)]]
    expected = [moment.timestamp() for moment in [*many, *reversed(many)]]
    assert read == pytest.approx(expected, abs=1e-5)


@given(st.from_regex(r"\d{4}-\d\d-\d\d[T ,_]\d\d:\d\d:\d\d([.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)?"))
def test_no_digits_make_it_fail(text: str) -> None:
    seconds = stamp(text)
    assert seconds is None or -1e11 < seconds < 1e12


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("06:22", 382.0),
        ("00:00", 0.0),
        ("1:18:25", 4705.0),
        ("123:00:01", 442801.0),
        ("1 day, 0:00:01", 86401.0),
        ("9 days, 22:13:15", 857595.0),
        (" 01:02.5 ", 62.5),
    ],
)
def test_elapsed_times_are_read(text: str, seconds: float) -> None:
    assert elapsed_s(text) == seconds


@pytest.mark.parametrize("text", ["", "12", "?", "1:2:3", "12:3", "a:bc", "1:02:03:04", "-1:00"])
def test_what_is_no_elapsed_time_is_none(text: str) -> None:
    assert elapsed_s(text) is None


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=4000)))
def test_python_s_own_spans_are_read(span: timedelta) -> None:
    whole = timedelta(days=span.days, seconds=span.seconds)
    assert elapsed_s(str(whole)) == whole.total_seconds()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,053", 1053.0),
        ("1,100,694", 1100694.0),
        ("3.01k", 3010.0),
        ("200K", 200_000.0),
        ("12M", 12e6),
        ("1.5G", 1.5e9),
        ("0", 0.0),
        ("1e-3", 0.001),
        ("-2.5", -2.5),
    ],
)
def test_numbers_are_read_as_trainers_write_them(text: str, number: float) -> None:
    assert count(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["", "k", "1.2.3", "ten"])
def test_what_is_no_number_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="could not convert"):
        count(text)
