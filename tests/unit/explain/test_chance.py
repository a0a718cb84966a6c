"""What is more than chance after saves, held against places without one."""

from __future__ import annotations

from math import comb, inf

import pytest

from instride.explain.chance import LIKELY, SURE, Elsewhere, at_least, weigh


def calm(num_places: int) -> Elsewhere:
    return Elsewhere([0.0] * num_places)


def restless(num_places: int, cost: float, share: float) -> Elsewhere:
    num_slow = round(num_places * share)
    return Elsewhere([0.0] * (num_places - num_slow) + [cost] * num_slow)


def test_one_slow_stretch_among_many_calm_places_is_sure() -> None:
    verdict = weigh([(30.0, calm(199))])
    assert verdict.least == 30.0
    assert verdict.chance == pytest.approx(1 / 200)


def test_one_slow_stretch_among_few_places_is_likely_at_best() -> None:
    assert SURE <= weigh([(30.0, calm(40))]).chance < LIKELY
    assert weigh([(30.0, calm(10))]).least == inf


def test_what_is_found_everywhere_is_nobodys() -> None:
    everywhere = restless(200, 5.0, 0.5)
    assert weigh([(5.0, everywhere)] * 3 + [(0.0, everywhere)] * 2).least == inf


def test_what_is_far_dearer_than_elsewhere_is_told_among_small_ones() -> None:
    elsewhere = restless(200, 1.0, 0.3)
    assert weigh([(40.0, elsewhere), (38.0, elsewhere), (1.0, elsewhere)]).least == 38.0


def test_each_save_is_held_against_its_own_regime() -> None:
    quiet, loud = calm(200), restless(200, 5.0, 0.5)
    assert weigh([(5.0, quiet)] * 2).least == 5.0
    assert weigh([(0.0, quiet), (5.0, loud), (5.0, loud)]).least == inf


def test_a_share_of_very_many_others_is_known_exactly() -> None:
    by_hand = sum(comb(9, hits) * 0.2**hits * 0.8 ** (9 - hits) for hits in range(4, 10))
    assert at_least(4, 9, 0.2, 10**9) == pytest.approx(by_hand, rel=1e-4)


def test_a_share_of_few_others_is_trusted_less() -> None:
    assert at_least(4, 9, 0.2, 20) > 1.3 * at_least(4, 9, 0.2, 10**9)


def test_everything_and_nothing_are_certain() -> None:
    assert at_least(0, 9, 0.2, 50) == pytest.approx(1.0)
    assert at_least(3, 3, 1.0, 50) == 1.0


def test_very_many_tries_are_counted_too() -> None:
    assert at_least(12_000, 20_000, 0.5, 10**6) < 1e-9
    assert 0.3 < at_least(10_000, 20_000, 0.5, 10**6) < 0.7
