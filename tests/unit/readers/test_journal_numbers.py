"""The journal of a store: no number in a line of it can break the reader, or what comes behind."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from instride.explain.ledger import build
from instride.steps.columns import CHUNK
from instride.steps.model import EventKind
from instride.steps.readers.journal import Journal
from tests.unit.readers.journal_lines import (
    START_S,
    STEP_S,
    call,
    line,
    restored,
    start,
    unnumbered,
)
from tests.unit.readers.reading import run_of

AGAIN_S = START_S + 60
ENOUGH = CHUNK + 50
"""Steps that a column packs."""
FIRST = [start(START_S), restored(START_S, None), *unnumbered(START_S, 30)]
SECOND = [start(AGAIN_S, 200), *unnumbered(AGAIN_S, ENOUGH)]

TOO_LARGE = [1 << 53, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 10**30]
ODD = st.one_of(
    st.sampled_from(
        ["-0", "-0.0", "1e400", "-1e400", "1e308", "1e-400", "1e99", "NaN", "Infinity"]
    ),
    st.sampled_from(["-Infinity", "null", "true", '"1"', "[1]", "{}", "1.5", "1" + "0" * 5000]),
    st.sampled_from([*map(str, TOO_LARGE), str(10**400), "99999999999.5", "999999999"]),
    st.integers(-(1 << 70), 1 << 70).map(str),
    st.floats().map(json.dumps),
)
NUMBERS = [
    "s", "step", "id", "staged_s", "waited_s", "bytes", "trainer_pid", "trainer_started",
]  # fmt: skip
KINDS = ["start", "restored", "step", "call", "durable", "failed", "end", "governor", "agent-x"]
ODD_LINE = st.builds(
    lambda t, kind, numbers: (
        f'{{"t":{t},"kind":"{kind}"' + "".join(f',"{name}":{n}' for name, n in numbers) + "}"
    ),
    st.one_of(st.sampled_from([str(START_S), str(AGAIN_S + 5 * STEP_S)]), ODD),
    st.sampled_from(KINDS),
    # In the order of the writer, so that odd steps are taken for steps too.
    st.one_of(
        st.tuples(st.tuples(st.just("step"), ODD), st.tuples(st.just("s"), ODD)),
        st.lists(st.tuples(st.sampled_from(NUMBERS), ODD), max_size=4),
    ),
)


@given(
    st.lists(ODD_LINE, max_size=4), st.lists(ODD_LINE, max_size=4), st.lists(ODD_LINE, max_size=3)
)
@example([], ['{"t":1767225660.0,"kind":"restored","step":9223372036854775808}'], [])
@example(
    [], ['{"t":1767225660.0,"kind":"durable","bytes":1' + "0" * 400 + ',"s":1,"staged_s":1}'], []
)
@example([], ['{"t":1767225660.0,"kind":"call","id":1,"step":9,"s":1e308}'] * 2, [])
def test_whatever_numbers_lines_have_the_journal_is_read_and_explained(
    early: list[str], between: list[str], late: list[str]
) -> None:
    run = run_of(Journal, [*early, *FIRST, *between, *SECOND, *late])

    # Beside a step that tells its number, those without one are only beats of the same step.
    assert len(run) >= 1
    build(run)


@pytest.mark.parametrize("step", [-5, -1, *TOO_LARGE])
def test_what_no_step_can_be_was_not_restored(step: int) -> None:
    begun, *steps = SECOND

    run = run_of(Journal, [*FIRST, begun, restored(AGAIN_S, step), *steps])

    assert list(run.step) == list(run_of(Journal, [*FIRST, *SECOND]).step)


@pytest.mark.parametrize("step", [-5, -1, *TOO_LARGE])
def test_what_no_step_can_be_was_not_saved(step: int) -> None:
    lines = [*unnumbered(START_S, ENOUGH), call(START_S + 10.5 * STEP_S, step, 0.01)]

    run = run_of(Journal, [start(START_S), *lines])

    assert list(run.step) == list(range(ENOUGH))
    assert not [event for event in run.events if event.kind is EventKind.SAVE]


@pytest.mark.parametrize("seconds", [-1.0, 1e9, 1e308])
def test_a_save_that_took_what_nothing_takes_is_a_damaged_line(seconds: float) -> None:
    run = run_of(Journal, [*FIRST, call(START_S + 2.05, 19, seconds)])

    assert not [event for event in run.events if event.kind is EventKind.SAVE]


def test_a_step_that_took_what_nothing_takes_leaves_the_clock_to_the_others() -> None:
    steps = unnumbered(START_S, 30)
    steps[10] = line(START_S + 11 * STEP_S, "step", step=-1).replace("}", ',"s":1e99}')

    run = run_of(Journal, [start(START_S), *steps])

    assert run.wall[-1] == pytest.approx(START_S + 30 * STEP_S)
