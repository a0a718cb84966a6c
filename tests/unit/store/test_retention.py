"""What may be deleted: a rule that can be checked without a disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.store.directory import Checkpoint
from instride.store.manifest import Manifest
from instride.store.retention import Keep, doomed


def checkpoint(
    step: int, serial: int, metric: float | None = None, ours: bool = True
) -> Checkpoint:
    path = Path(f"step_{step:08d}.pt")
    manifest = Manifest(path.name, "0" * 16, 10, [], 0.0, serial=serial, step=step, metric=metric)
    return Checkpoint(path, step, 10, manifest if ours else None)


def steps(checkpoints: list[Checkpoint]) -> list[int]:
    return [each.step for each in checkpoints]


def run_of(*steps: int) -> list[Checkpoint]:
    return [checkpoint(step, serial) for serial, step in enumerate(steps, 1)]


def test_without_a_rule_everything_stays() -> None:
    assert doomed(run_of(1, 2, 3), Keep()) == []


def test_the_last_ones_stay() -> None:
    assert steps(doomed(run_of(1, 2, 3, 4), Keep(last=2))) == [1, 2]


def test_what_was_saved_last_is_the_newest_also_after_a_return_to_an_earlier_step() -> None:
    assert steps(doomed(run_of(10, 20, 30, 15), Keep(last=2))) == [10, 20]


def test_multiples_of_every_stay_for_ever() -> None:
    assert steps(doomed(run_of(100, 150, 200, 250), Keep(last=1, every=100))) == [150]


def test_every_alone_deletes_nothing() -> None:
    assert doomed(run_of(1, 2, 3), Keep(every=2)) == []


@pytest.mark.parametrize(("best_is", "gone"), [("lowest", [2]), ("highest", [1])])
def test_the_best_ones_stay(best_is: str, gone: list[int]) -> None:
    saved = [checkpoint(1, 1, 0.1), checkpoint(2, 2, 0.9), checkpoint(3, 3, 0.5)]

    assert steps(doomed(saved, Keep(last=1, best=1, best_is=best_is))) == gone  # type: ignore[arg-type]


def test_a_metric_that_is_not_a_number_is_never_the_best() -> None:
    saved = [checkpoint(1, 1, float("nan")), checkpoint(2, 2, 0.9), checkpoint(3, 3)]

    assert steps(doomed(saved, Keep(last=1, best=1))) == [1]


def test_foreign_files_are_neither_deleted_nor_counted() -> None:
    saved = [checkpoint(1, 1), checkpoint(2, 2), checkpoint(3, 0, ours=False)]

    assert steps(doomed(saved, Keep(last=1))) == [1]


@given(
    st.lists(st.tuples(st.integers(0, 50), st.booleans()), unique_by=lambda pair: pair[0]),
    st.one_of(st.none(), st.integers(1, 5)),
    st.one_of(st.none(), st.integers(1, 20)),
    st.one_of(st.none(), st.integers(1, 5)),
)
def test_whatever_the_rule_the_newest_of_ours_stays_and_only_ours_go(
    files: list[tuple[int, bool]], last: int | None, every: int | None, best: int | None
) -> None:
    saved = [
        checkpoint(step, serial, metric=float(step % 7), ours=ours)
        for serial, (step, ours) in enumerate(files, 1)
    ]
    ours = [each for each in saved if each.is_ours]

    gone = doomed(saved, Keep(last=last, every=every, best=best))

    assert all(each.is_ours for each in gone)
    assert not ours or ours[-1] not in gone
    assert len(ours) - len(gone) >= min(len(ours), max(last or 1, best or 1))


@pytest.mark.parametrize("wrong", [{"last": 0}, {"every": -1}, {"best": True}, {"best_is": "x"}])
def test_a_rule_that_means_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="Keep"):
        Keep(**wrong)  # type: ignore[arg-type]
