"""What is more than chance after saves, held against places without one."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, inf
from random import Random

import pytest

from instride.explain import chance
from instride.explain.chance import LIKELY, SURE, Elsewhere, Verdict, at_least, weigh


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
    assert at_least(4, 3, 0.2, 50) == 0.0


def test_very_many_tries_are_counted_too() -> None:
    assert at_least(12_000, 20_000, 0.5, 10**6) < 1e-9
    assert 0.3 < at_least(10_000, 20_000, 0.5, 10**6) < 0.7


def weighed_one_by_one(found: Sequence[tuple[float, Elsewhere]]) -> Verdict:
    """The formula as it is meant: every save is held against its own regime, for every number."""
    costs = sorted((cost for cost, _ in found if cost > 0), reverse=True)
    num_places = sum(len(each.costs) for each in {id(e): e for _, e in found}.values())
    verdicts = []
    for count, least in enumerate(costs, start=1):
        usual = sum(elsewhere.share_from(least) for _, elsewhere in found) / len(found)
        likely = at_least(count, len(found), usual, num_places)
        verdicts.append(Verdict(least, len(costs) * likely))
    for limit in (SURE, LIKELY):
        for verdict in reversed(verdicts):
            if verdict.chance < limit:
                return verdict
    return Verdict()


def drawn(random: Random, num_places: int, scale: float, share: float) -> Elsewhere:
    costs = [
        random.expovariate(1) * scale if random.random() < share else 0.0 for _ in range(num_places)
    ]
    return Elsewhere(sorted(costs))


def test_saves_of_one_regime_weigh_together_what_they_weigh_one_by_one() -> None:
    random = Random(0)
    answers = set()
    for _ in range(1000):
        regimes = [
            drawn(
                random, random.choice([0, 3, 30, 300]), random.choice([0.5, 2.0]), random.random()
            )
            for _ in range(random.randint(1, 4))
        ]
        found = [
            (random.choice([0.0, 1.0, random.expovariate(0.5)]), random.choice(regimes))
            for _ in range(random.choice([1, 4, 20, 100]))
        ]
        plain, verdict = weighed_one_by_one(found), weigh(found)
        assert verdict.least == plain.least
        assert verdict.chance == pytest.approx(plain.chance, rel=1e-9)
        answers.add((verdict.chance < SURE, verdict.chance < LIKELY))
    assert len(answers) == 3


@pytest.mark.parametrize("num_places", [30, 4000])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_work_grows_with_the_number_of_saves_and_no_faster(
    num_places: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(0)
    looks: list[float] = []
    terms: list[int] = []
    look, term = Elsewhere.share_from, chance._exactly

    def seen_look(elsewhere: Elsewhere, cost: float) -> float:
        looks.append(cost)
        return look(elsewhere, cost)

    def seen_term(hits: int, tries: int, successes: float, failures: float) -> float:
        terms.append(hits)
        return term(hits, tries, successes, failures)

    monkeypatch.setattr(Elsewhere, "share_from", seen_look)
    monkeypatch.setattr(chance, "_exactly", seen_term)
    regimes = [drawn(random, num_places, 1.0, share) for _ in range(2)]
    for num_saves in (500, 4000):
        looks.clear()
        terms.clear()
        weigh(
            [(cost, random.choice(regimes)) for cost in drawn(random, num_saves, 1.3, share).costs]
        )
        assert len(looks) <= 2 * num_saves
        assert len(terms) <= 10 * num_saves
