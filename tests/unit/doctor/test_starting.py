"""How long a process has been there, for the ten seconds that are promised."""

from __future__ import annotations

import psutil
import pytest

from instride.doctor.starting import LONGEST_START_S, seconds_since_start


def test_what_starting_took_counts() -> None:
    assert seconds_since_start(psutil.Process().create_time() + 1.5) == pytest.approx(1.5)


@pytest.mark.parametrize("age_s", [-3.0, LONGEST_START_S + 1])
def test_an_old_process_and_a_clock_that_was_set_count_for_nothing(age_s: float) -> None:
    assert seconds_since_start(psutil.Process().create_time() + age_s) == 0.0
