"""Step times laid out in time: everything has its place, and the end is the wall."""

from __future__ import annotations

from itertools import pairwise
from math import isnan

import pytest

from instride.explain.ledger import build
from instride.explain.series import OWNERS, Series, series, thinned
from instride.explain.spans import Owner
from instride.steps.model import EventKind
from tests.unit.cli.runs import STORIES
from tests.unit.explain.making import Training


@pytest.mark.parametrize("name", sorted(STORIES))
def test_time_ends_at_the_wall_and_never_goes_back(name: str) -> None:
    ledger = build(STORIES[name]())
    made = series(ledger)
    assert made.wall_s == pytest.approx(ledger.wall_s, rel=1e-6)
    assert len(made) == len(ledger.timeline.run)
    assert all(begin <= end for begin, end in zip(made.begin_s, made.end_s, strict=True))
    assert all(end <= begin for end, begin in zip(made.end_s, made.begin_s[1:], strict=False))


@pytest.mark.parametrize("name", sorted(STORIES))
def test_time_without_steps_lies_between_the_records(name: str) -> None:
    made = series(build(STORIES[name]()))
    for quiet in made.quiet:
        before = made.end_s[quiet.after - 1] if quiet.after else 0.0
        after = made.begin_s[quiet.after] if quiet.after < len(made) else made.wall_s
        assert before <= quiet.begin_s < quiet.end_s <= after
    assert all(one.end_s <= other.begin_s for one, other in pairwise(made.quiet))


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("eval-0", Owner.EVAL),
        ("aftermath-0", Owner.AFTERMATH),
        ("lost-0", Owner.LOST),
        ("warmup-0", Owner.WARMUP),
        ("slow-zone-0", Owner.UNKNOWN),
    ],
)
def test_records_know_their_owner(name: str, owner: Owner) -> None:
    made = series(build(STORIES[name]()))
    assert OWNERS.index(owner) in made.owner
    assert OWNERS.index(Owner.COMPUTE) in made.owner


def test_a_record_with_several_owners_tells_what_each_has() -> None:
    training = Training()
    for _ in range(4):
        training.train(60)
        training.pause(EventKind.EVAL, 9.0, is_stated=True)
        training.pause(EventKind.SAVE, 4.0, is_stated=True)
    training.train(60)
    ledger = build(training.finish())
    made = series(ledger)
    parts = list(made.shared.values())
    evaluating, saving = OWNERS.index(Owner.EVAL), OWNERS.index(Owner.SAVE)
    assert [[owner for owner, _ in each] for each in parts] == [[evaluating, saving]] * 4
    for each in parts:
        assert [seconds for _, seconds in each] == pytest.approx([9.0, 4.0], rel=0.05)
    assert all(made.owner[index] == evaluating for index in made.shared)


@pytest.mark.parametrize("name", sorted(STORIES))
def test_a_record_has_its_dearest_owner_unless_it_was_lost(name: str) -> None:
    made = series(build(STORIES[name]()))
    lost = OWNERS.index(Owner.LOST)
    for index, parts in made.shared.items():
        assert len({owner for owner, _ in parts}) == len(parts) > 1
        seen = [owner for owner, _ in parts if owner != lost]
        assert made.owner[index] == seen[0]


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("startup-0", Owner.STARTUP),
        ("restart-0", Owner.RESTART),
        ("closing-save-0", Owner.SAVE),
        ("never-again-0", Owner.RESTART),
    ],
)
def test_time_without_steps_has_an_owner(name: str, owner: Owner) -> None:
    assert owner in {quiet.owner for quiet in series(build(STORIES[name]())).quiet}


def long_series(num_steps: int) -> Series:
    training = Training()
    training.train(num_steps, lambda step: 9.0 if step == 777 else 0.5 if step == 888 else 1.0)
    return series(build(training.finish()))


def test_a_short_series_is_not_thinned_out() -> None:
    full = long_series(1000)
    assert thinned(full, 1000) is full


def test_the_fastest_and_the_slowest_record_survive_thinning() -> None:
    full = long_series(2000)
    thin = thinned(full, 300)
    assert 100 < len(thin) <= 300
    assert {777, 888} <= set(thin.step)
    assert list(thin.index) == sorted(set(thin.index))
    for at, index in enumerate(thin.index):
        assert thin.step[at] == full.step[index]
        assert thin.value_s[at] == full.value_s[index]
        assert thin.end_s[at] == full.end_s[index]
        assert thin.owner[at] == full.owner[index]


def test_records_without_a_time_are_left_out_of_a_thin_series() -> None:
    full = long_series(2000)
    full.value_s[100] = float("nan")
    thin = thinned(full, 300)
    assert not any(map(isnan, thin.value_s))
