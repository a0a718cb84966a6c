"""openpi: rounded counts, timestamps without a date, saves by Orbax."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.openpi import OpenPi
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import clock, read
from tests.unit.readers.reading import events

RATE = "rate:99.9s/it remaining:99:59:59"


def at(seconds: float) -> str:
    """The time of day, by openpi's logger."""
    whole = int(seconds) % 86400
    millis = round((seconds - int(seconds)) * 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{millis:03} [I]"


def short(n: int) -> str:
    """A count of three digits, as tqdm prints it."""
    if n < 1000:
        return f"{n:.2f}"[:4].rstrip(".")
    return f"{n / 1000:.2f}k" if n < 9995 else f"{n / 1000:.1f}k"


def bar(n: int, now: float, begin: float = 0.0, name: str = "") -> str:
    count = f"{short(n)}it/30.0kit" if n else "-/30000"
    return (
        f"{at(now)} Progress on:{name} {count} {RATE} elapsed:{clock(now - begin)} postfix:- "
        "(17:tqdm_logging.py:145)"
    )


def save(step: int, now: float, seconds: float) -> list[str]:
    return [
        f"{at(now)} [process=0] Saving checkpoint at step {step}   (17:checkpoint_manager.py:1)",
        f"{at(now + seconds)} Finished blocking save in {seconds:.2f} seconds. Continuing to save "
        f"asynchronously to /out/{step}. (17:async_checkpointer.py:1)",
    ]


def saved_behind(step: int, now: float, seconds: float) -> str:
    return (
        f"{at(now)} Finished asynchronous save (blocking + background) in {seconds:.2f} seconds to "
        f"/out/{step} (17:async_checkpointer.py:1)"
    )


def training(begin: float, first: int, last: int, step_s: float, every: int = 7) -> list[str]:
    """Bars of one process that starts at step 0, from `first` on."""
    return [bar(n, begin + n * step_s, begin) for n in range(first, last + 1, every)]


def paces(run: Run) -> list[float]:
    walls = zip(pairwise(run.wall), pairwise(run.step), strict=True)
    return [(b - a) / (after - before) for (a, b), (before, after) in walls]


def test_counts_below_1000_are_exact_and_have_the_times_of_their_lines() -> None:
    run = read(OpenPi, training(50.0, 0, 70, 1.5))
    assert list(run.step) == list(range(0, 71, 7))
    assert list(run.wall) == [50.0 + 1.5 * n for n in range(0, 71, 7)]
    assert (run.clock_is_absolute, run.clock_resolution_s) == (True, 0.0)
    assert all(seconds != seconds for seconds in run.seconds)


def test_rounded_counts_are_spread_evenly() -> None:
    run = read(OpenPi, training(0.0, 0, 12_000, 1.5))
    assert list(run.step)[-1] == pytest.approx(11_998, abs=50)
    assert median(paces(run)) == pytest.approx(1.5, rel=0.01)
    assert sum(abs(pace - 1.5) < 0.15 for pace in paces(run)) > 0.95 * len(run)
    assert all(after > before for before, after in pairwise(run.step))


def test_a_repeated_count_is_one_record() -> None:
    run = read(OpenPi, [bar(0, 10, 10), bar(0, 120, 10), bar(5, 130, 10), bar(5, 140, 10)])
    assert list(run.step) == [0, 5]
    assert list(run.wall) == [10.0, 130.0]
    assert [(end.wall, end.line) for end in run.ends] == [(140.0, 4)]


def test_the_end_of_a_save_is_a_record_of_its_step() -> None:
    before = training(0.0, 3500, 3997, 1.5)
    after = [bar(4000 + 7 * n, 6005.5 + 10.5 * n) for n in range(1, 60)]
    lines = [*before, *save(4000, 6000.0, 5.5), *after]
    run = read(OpenPi, lines)
    index = list(run.step).index(4000)
    assert run.wall[index] == pytest.approx(6005.5)
    assert run.line[index] == len(before) + 2
    assert events(run) == [(EventKind.SAVE, index, 5.5)]
    assert run.events[0].step == 4000
    assert paces(run)[index] == pytest.approx(1.5, rel=0.1)


def test_slow_steps_after_a_save_are_seen_although_counts_are_rounded() -> None:
    """Five steps take 25 s: the count stays the same for two records."""
    after = [bar(4002, 6015.5), bar(4004, 6025.5), bar(4005, 6030.5)]
    after += [bar(4005 + 7 * n, 6030.5 + 10.5 * n) for n in range(1, 60)]
    run = read(OpenPi, [*training(0.0, 3500, 3997, 1.5), *save(4000, 6000.0, 5.5), *after])
    index = list(run.step).index(4000)
    slow = [pace for pace in paces(run)[index : index + 3] if pace > 2.5]
    assert len(slow) >= 2
    assert paces(run)[index + 6] == pytest.approx(1.5, rel=0.15)


def test_the_background_save_is_no_event_but_a_sign_of_life() -> None:
    lines = [*training(0.0, 0, 98, 1.5), *save(100, 150.0, 2.0), saved_behind(100, 180.0, 30.0)]
    run = read(OpenPi, lines)
    assert events(run) == [(EventKind.SAVE, len(run) - 1, 2.0)]
    assert [end.wall for end in run.ends] == [180.0]


def test_a_save_that_does_not_come_back_is_marked_without_its_time() -> None:
    begun = save(100, 150.0, 2.0)[0]
    run = read(OpenPi, [*training(0.0, 0, 98, 1.5), begun])
    assert events(run) == [(EventKind.SAVE, 15, None)]
    run = read(OpenPi, [*training(0.0, 0, 98, 1.5), begun, bar(105, 170.0)])
    assert events(run) == [(EventKind.SAVE, 15, None)]
    assert list(run.step)[-1] == 105


def test_a_save_of_another_numbering_is_only_an_event() -> None:
    run = read(OpenPi, [*training(0.0, 0, 98, 1.5), *save(3, 150.0, 2.0), bar(105, 170.0)])
    assert list(run.step)[-2:] == [98, 105]
    assert [event.kind for event in run.events] == [EventKind.SAVE]


def test_a_save_at_a_count_that_was_told_before_keeps_its_time() -> None:
    run = read(OpenPi, [*training(0.0, 0, 98, 1.5), *save(98, 150.0, 2.0), bar(105, 170.0)])
    assert list(run.step)[-2:] == [98, 105]
    assert events(run) == [(EventKind.SAVE, 15, 2.0)]


def test_launches_and_loads_are_events_and_start_anew() -> None:
    launch = [f"{at(5)} Running on: node-1 (1:train.py:196)"]
    again = [
        f"{at(900)} Running on: node-1 (2:train.py:196)",
        f"{at(905)} Restoring checkpoint from /out/50. (2:checkpointer.py:298)",
    ]
    resumed = [bar(n, 910 + n, 960) for n in range(50, 100, 7)]
    run = read(OpenPi, [*launch, *training(20.0, 0, 98, 1.5), *again, *resumed])
    assert events(run) == [
        (EventKind.START, 0, None),
        (EventKind.START, 15, None),
        (EventKind.LOAD, 15, None),
    ]
    assert run.first_clock is not None
    assert run.first_clock.wall == 5.0
    assert list(run.step)[15] == 50


def test_a_count_that_falls_back_without_a_word_is_a_new_process() -> None:
    run = read(OpenPi, [*training(0.0, 0, 2100, 1.5), *training(5000.0, 0, 70, 1.5)])
    assert list(run.step)[-11:] == list(range(0, 71, 7))
    assert list(run.wall)[-1] == 5000.0 + 70 * 1.5


def test_the_clock_counts_on_through_midnight() -> None:
    run = read(OpenPi, training(86_300.0, 0, 140, 1.5))
    assert run.wall[-1] - run.wall[0] == pytest.approx(210.0)


def test_other_bars_are_no_steps() -> None:
    loading = [bar(n, 10.0 + n, 10, "Loading shards:") for n in range(1, 40)]
    evaluating = [bar(n, 210.0 + n, 210, "Validation:") for n in range(1, 4)]
    lines = [*loading, *training(60.0, 0, 98, 1.5), *evaluating, bar(105, 300.0, 60)]
    run = read(OpenPi, lines)
    assert list(run.step) == list(range(0, 106, 7))
    assert events(run) == [(EventKind.EVAL, 15, None)]


def test_without_timestamps_the_clock_of_the_bar_is_taken() -> None:
    run = read(OpenPi, [line.partition("[I] ")[2] for line in training(0.0, 0, 140, 1.5)])
    assert (run.clock_is_absolute, run.clock_resolution_s) == (False, 1.0)
    assert list(run.wall)[-1] == 210.0


@pytest.mark.parametrize(
    "mangled",
    [
        "Progress on: 1.01kit/30.0kit rate:",
        "10:00:00.000 [I] Progress on: kit/30.0kit rate:1it/s remaining:1:00 elapsed:01:00",
        f"10:00:00.000 [I] Progress on: {'9' * 12}it/30.0kit {RATE} elapsed:{'9' * 30}",
        "10:00:00.000 [I] Finished blocking save in nan seconds.",
        "10:00:00.000 [I] Saving checkpoint at step x",
    ],
)
def test_mangled_lines_are_passed_over(mangled: str) -> None:
    run = read(OpenPi, [*training(0.0, 0, 70, 1.5), mangled])
    assert list(run.step) == list(range(0, 71, 7))
    assert run.events == []


def test_a_bar_that_never_moved_is_no_record() -> None:
    run = read(OpenPi, [bar(0, 10, 10), bar(0, 120, 10)])
    assert len(run) == 0


@pytest.mark.parametrize(
    ("name", "pace_s", "num_saves", "blocked_s", "last"),
    [
        ("openpi-orbax-folding.out", 1.505, 8, 198.5, 8998),
        ("openpi-orbax-no-contention.out", 0.499, 17, 59.4, 17000),
    ],
)
def test_real_logs(
    cases: Path, name: str, pace_s: float, num_saves: int, blocked_s: float, last: int
) -> None:
    run = read_with(OpenPi, [Source(str(cases / name))])
    saves = [event for event in run.events if event.kind is EventKind.SAVE]
    assert [event.step for event in saves] == [1000 * n for n in range(1, num_saves + 1)]
    assert sum(event.seconds or 0 for event in saves) == pytest.approx(blocked_s, abs=0.1)
    assert median(paces(run)) == pytest.approx(pace_s, rel=0.01)
    assert run.step[0] == 0
    assert run.step[-1] == pytest.approx(last, abs=10)
