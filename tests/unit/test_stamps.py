"""Timestamps and spans of time in the forms that logs print them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.steps.stamps import Stamps, find_form, span_s

MOMENT = datetime(2025, 8, 30, 23, 1, 2, tzinfo=UTC).timestamp()
DAY_S = 86400


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("2025-08-30 23:01:02 step 1", MOMENT),
        ("2025-08-30T23:01:02.250Z step 1", MOMENT + 0.25),
        ("[2025-08-30 23:01:02,250] step 1", MOMENT + 0.25),
        ("2025-08-30T23:01:02+02:00 step 1", MOMENT - 7200),
        ("2025-08-30T23:01:02-0530 step 1", MOMENT + 19800),
        ("2025/08/30 23:01:02 step 1", MOMENT),
        ("2025-08-30 23:01:02: step 1", MOMENT),
        ("2025-08-30 23:01:02,250: step 1", MOMENT + 0.25),
        ("2025-08-30 23:01:02:03 step 1", None),
        ("2025-08-30,23:01:02 | INFO | step 1", MOMENT),
        ("20250830 23:01:02 step 1", MOMENT),
        ("run_20250830_230102 step 1", MOMENT),
        ("30.08.2025 23:01:02 step 1", MOMENT),
        ("25-08-30 23:01:02.250 - INFO: step 1", MOMENT + 0.25),
        ("08/30/2025 23:01:02 step 1", MOMENT),
        ("30/08/2025 23:01:02 step 1", MOMENT),
        ("8/30/25, 11:01:02 PM step 1", MOMENT),
        ("Sat Aug 30 23:01:02 2025 step 1", MOMENT),
        ("30/Aug/2025:23:01:02 step 1", MOMENT),
        (f"{int(MOMENT)} step 1", MOMENT),
        (f"[{int(MOMENT)}.5] step 1", MOMENT + 0.5),
        (f"{int(MOMENT) * 1000} step 1", MOMENT),
        ("step 1 loss 2.5", None),
        ("2025-13-30 23:01:02 step 1", None),
        ("2025-08-30 23:71:02 step 1", None),
        ("elapsed 1:02:03 step 1", None),
    ],
)
def test_full_timestamps_are_read_in_many_forms(line: str, seconds: float | None) -> None:
    assert Stamps().find(line) == (None if seconds is None else pytest.approx(seconds))


def test_a_time_without_a_date_goes_on_after_midnight() -> None:
    stamps = Stamps()
    times = ["23:59:58.500", "23:59:59.500", "00:00:01.000", "12:00:00.000", "00:00:00.500"]
    found = [stamps.find(f"[{time}] step 1") for time in times]
    first = found[0]
    assert first is not None
    assert [(at or 0) - first for at in found] == pytest.approx([0, 1, 2.5, 43201.5, DAY_S + 2])


def test_a_late_line_from_before_midnight_does_not_skip_a_day() -> None:
    stamps = Stamps()
    found = [stamps.find(f"{time} x") for time in ("23:59:59", "00:00:01", "23:59:58", "00:00:03")]
    first = found[0]
    assert first is not None
    assert [(at or 0) - first for at in found] == [0, 2, -1, 4]


def test_a_date_without_a_year_goes_on_after_new_year() -> None:
    stamps = Stamps()
    found = [stamps.find(f"[{date} 12:00:00 x]: step") for date in ("12/31", "01/01", "01/02")]
    assert None not in found
    assert [(at or 0) - (found[0] or 0) for at in found] == [0, DAY_S, 2 * DAY_S]


def test_a_leap_day_is_a_day_of_its_own() -> None:
    stamps = Stamps()
    found = [stamps.find(f"I{date} 12:00:00.5 x] step") for date in ("0228", "0229", "0301")]
    assert [(at or 0) - (found[0] or 0) for at in found] == [0, DAY_S, 2 * DAY_S]


def test_halves_of_the_day_are_told_apart() -> None:
    stamps = Stamps()
    found = [stamps.find(f"{time} step") for time in ("11:59:59 AM", "12:00:01 PM", "1:00:00 PM")]
    assert [(at or 0) - (found[0] or 0) for at in found] == [0, 2, 3601]


def test_the_resolution_is_a_second_until_a_fraction_is_seen() -> None:
    stamps = Stamps()
    stamps.find("2025-08-30 23:01:02 step")
    assert stamps.resolution_s == 1.0
    stamps.find("2025-08-30 23:01:02.5 step")
    assert stamps.resolution_s == 0.0


def test_all_timestamps_of_a_log_have_the_form_of_the_first() -> None:
    stamps = Stamps()
    assert stamps.find("2025-08-30 23:01:02 step 1") == MOMENT
    assert stamps.find("23:01:05 a line of something else") is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2025-08-30 23:01:02.5", MOMENT + 0.5),
        (str(int(MOMENT)), MOMENT),
        (f"{int(MOMENT)}000", MOMENT),
        (f"{int(MOMENT)}000000000", MOMENT),
        ("23:01:02", 82862.0),
        (" 08/30 23:01:02 ", 241 * DAY_S + 82862.0),
        ("0.53", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_text_that_is_a_timestamp_is_read_as_a_whole(text: str, seconds: float | None) -> None:
    assert Stamps().read(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12.5", 12.5),
        ("1,234.5", 1234.5),
        ("06:22", 382.0),
        ("1:02:03", 3723.0),
        ("9 days, 22:13:15", 857595.0),
        ("12m 3s", 723.0),
        ("1h2m3.5s", 3723.5),
        ("2d 1h", 176400.0),
        ("45s", 45.0),
        ("1 hour 5 min", 3900.0),
        ("nan", None),
        ("inf", None),
        ("s", None),
        ("soon", None),
        ("", None),
        ("9" * 400 + ":00:00", None),
        ("9" * 5000 + ":00:00", None),
    ],
)
def test_spans_of_time_are_read_in_many_forms(text: str, seconds: float | None) -> None:
    assert span_s(text) == seconds


@given(st.text(alphabet="0123456789:-/., TZaAmMpP[]Jun+", max_size=40))
def test_no_timestamp_is_too_strange(text: str) -> None:
    stamps = Stamps()
    found = stamps.find(text)
    assert found is None or find_form(text) is not None
    assert stamps.read(text) is None or text.strip()
    span_s(text)
