"""What holds for every log, also for those that nobody would write by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from instride.errors import NoTimesError
from instride.explain.explaining import explain, report
from instride.explain.ledger import build
from instride.explain.report import Report
from instride.steps.model import Dialect, EventKind, Pauses, Run, Sampling
from instride.steps.recording import Recording
from instride.steps.source import Source
from tests.unit.explain.making import Training, jitter

Move = Callable[[Training], None]

PAUSES = st.sampled_from([EventKind.EVAL, EventKind.SAVE, EventKind.CLEANUP])
SAMPLINGS = st.sampled_from([each for each in Sampling if each is not Sampling.TOTALS])
SECONDS = st.sampled_from([0.01, 0.3, 1.0, 1.2, 2.0, 7.5, 60.0])


def steps(num_steps: int, seconds: float, noise: float, seed: int) -> Move:
    return lambda training: training.train(num_steps, jitter(seconds, noise, seed))


def pause(kind: EventKind, seconds: float, is_stated: bool, is_named: bool, is_sure: bool) -> Move:
    return lambda training: training.pause(
        kind, seconds, is_stated=is_stated, is_named=is_named, is_sure=is_sure
    )


def wait(seconds: float) -> Move:
    return lambda training: training.wait(seconds)


def resume(num_lost: int, gap_s: float, has_banner: bool) -> Move:
    def move(training: Training) -> None:
        if len(training.log.run):
            training.resume(max(0, training.step - num_lost), gap_s, has_banner=has_banner)

    return move


MOVES = st.lists(
    st.one_of(
        st.builds(
            steps,
            st.sampled_from([1, 2, 7, 30, 100]),
            SECONDS,
            st.sampled_from([0.0, 0.02, 0.15]),
            st.integers(0, 9),
        ),
        st.builds(pause, PAUSES, SECONDS, st.booleans(), st.booleans(), st.booleans()),
        st.builds(wait, SECONDS),
        st.builds(resume, st.sampled_from([0, 3, 20, 9999]), SECONDS, st.booleans()),
    ),
    min_size=1,
    max_size=9,
)


@st.composite
def trainings(draw: st.DrawFn, resolution_s: float = 0.0) -> Run:
    """A run with a wall clock that begins before the first step."""
    training = Training(
        draw(SAMPLINGS),
        draw(st.sampled_from(Pauses)),
        draw(st.sampled_from([1, 5, 10])),
        has_wall=True,
        prints=draw(st.booleans()),
        resolution_s=resolution_s,
    )
    training.wait(draw(SECONDS))
    for move in draw(MOVES):
        move(training)
    training.train(training.every)
    run = training.finish()
    assume(not run.num_duplicates and not run.notes)
    return tell(run)


def tell(run: Run) -> Run:
    """Let a failing example be read: a run shows nothing of itself."""
    note(f"{run.dialect.sampling}, pauses {run.dialect.pauses}, {run.first_clock}, {run.ends}")
    each = [(step, run.seconds_at(at), run.wall_at(at)) for at, step in enumerate(run.step)]
    note(f"{each}")
    note(f"{run.events}")
    return run


def seen_s(run: Run) -> float:
    """From the first time in the log to the last."""
    assert run.first_clock is not None
    times = [run.wall[-1], *(end.wall for end in run.ends if end.at == len(run))]
    return max(times) - run.first_clock.wall


@given(trainings())
@settings(max_examples=300, deadline=None)
def test_the_owners_have_every_second_of_the_wall(run: Run) -> None:
    assert build(run).wall_s == pytest.approx(seen_s(run), rel=1e-6)


@given(trainings(resolution_s=1.0))
@settings(max_examples=60, deadline=None)
def test_a_coarse_clock_adds_up_to_within_its_ticks(run: Run) -> None:
    ledger = build(run)
    ticks = 1 + len(ledger.timeline.processes)
    assert ledger.wall_s == pytest.approx(seen_s(run), abs=ticks)


@given(trainings())
@settings(max_examples=60, deadline=None)
def test_no_owner_has_less_than_nothing(run: Run) -> None:
    ledger = build(run)
    assert all(account.seconds >= 0 for account in ledger.accounts.values())
    assert all(account.steps >= 0 for account in ledger.accounts.values())
    assert all(span.cost_s >= 0 for span in ledger.spans)


ANY_TIME = st.none() | st.floats(allow_subnormal=False)
"""Whatever a broken log may print: also NaN, infinities, negative and huge numbers."""
POSSIBLE_TIME = st.none() | st.floats(1e-6, 1e9) | st.sampled_from([0.0, 1.0, float("nan")])
DELTAS = st.sampled_from([1, 1, 1, 1, 10, 0, -1, -7, -(10**6), 10**9])
EVENTS = st.none() | st.tuples(st.sampled_from(EventKind), POSSIBLE_TIME, st.booleans())


@st.composite
def logs(draw: st.DrawFn, times: st.SearchStrategy[float | None]) -> Run:
    """Records and events in any order, with step numbers that jump."""
    dialect = Dialect(
        "any", "Any", "any", draw(st.sampled_from(Pauses)), draw(st.sampled_from(Sampling))
    )
    log = Recording(dialect)
    log.run.clock_is_absolute = draw(st.booleans())
    log.run.clock_resolution_s = draw(st.sampled_from([0.0, 1.0]))
    log.run.line_offsets = [0]
    step = draw(st.sampled_from([0, 1, 5000]))
    records = draw(st.lists(st.tuples(DELTAS, times, times, times, EVENTS), min_size=1))
    for number, (delta, seconds, wall, data, event) in enumerate(records):
        if event is not None:
            kind, stated, is_sure = event
            log.event(kind, 2 * number + 1, stated, wall, step, is_sure)
            log.clock(wall, 2 * number + 1)
        step = max(0, step + delta)
        log.step(step, 2 * number + 2, seconds, wall, data)
    if draw(st.booleans()):
        log.event(draw(st.sampled_from(EventKind)), 2 * len(records) + 1, draw(POSSIBLE_TIME))
    return tell(log.finish())


def explained(run: Run, paper: Source) -> Report | None:
    """The report, or nothing if the log has no time that is of use."""
    try:
        return report(explain(run, [paper]))
    except NoTimesError:
        return None


@given(run=logs(ANY_TIME))
@settings(max_examples=250, deadline=None)
def test_no_log_is_too_broken_to_be_explained(run: Run, paper: Source) -> None:
    answer = explained(run, paper)
    assert answer is None or answer.steps.observed == len(run)


@given(run=logs(POSSIBLE_TIME))
@settings(max_examples=250, deadline=None)
def test_shares_lie_between_nothing_and_all_and_add_up(run: Run, paper: Source) -> None:
    answer = explained(run, paper)
    assume(answer is not None)
    assert answer is not None
    shares = [owner.share for owner in answer.owners.values()]
    assert sum(shares) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in shares)
    assert all(0 <= finding.share <= 1 for finding in answer.findings)


@given(run=logs(POSSIBLE_TIME))
@settings(max_examples=250, deadline=None)
def test_spans_lie_within_the_steps_of_the_log(run: Run, paper: Source) -> None:
    answer = explained(run, paper)
    assume(answer is not None)
    assert answer is not None
    # An average also stands for the steps before the first record.
    lowest = max(0, min(run.step) - answer.steps.sampled_every + 1)
    for span in answer.spans:
        assert lowest <= span.first_step <= span.last_step <= max(run.step)
        assert isfinite(span.extra_s)
        assert isfinite(span.factor)
        assert span.extra_s >= 0
