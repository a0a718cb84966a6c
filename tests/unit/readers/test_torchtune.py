"""torchtune: a bar for every epoch, and saves of stated length."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.torchtune import Torchtune
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import draw
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

LOGGER = "INFO:torchtune.utils._logging:"


def read(lines: list[str]) -> Run:
    return read_as(Torchtune, lines)


def epoch(number: int, total: int, step_s: int, begin: int = 0, done: int | None = None) -> str:
    """One line with all drawings of a bar; the description follows one drawing later."""
    done = total * (number - 1) if done is None else done
    drawn, name = [draw(begin, total, 0)], ""
    for n in range(begin + 1, total + 1):
        elapsed_s = step_s * (n - begin)
        drawn.append(draw(n, total, elapsed_s, name))
        name = f"{number}|{done + n}|Loss: {3 - n / 1000}"
        drawn.append(draw(n, total, elapsed_s, name))
    return "\r".join(drawn)


def save(seconds: float) -> list[str]:
    return [
        f"{LOGGER}Starting checkpoint save...",
        f"{LOGGER}Model checkpoint of size 2.30 GiB saved to /out/epoch_0/model.safetensors",
        f"{LOGGER}Checkpoint saved in {seconds:.2f} seconds.",
    ]


def test_the_count_of_the_bar_is_the_step_not_its_late_description() -> None:
    run = read([epoch(1, 20, 3)])
    assert list(run.step) == list(range(1, 21))
    assert list(run.wall) == [3.0 * n for n in range(1, 21)]
    assert run.first_clock is not None


def test_a_closing_save_states_how_long_it_took() -> None:
    last = draw(20, 20, 345, "1|20|Loss: 2.98")
    run = read([epoch(1, 20, 3), *save(284.91), last])
    assert events(run) == [(EventKind.SAVE, 20, 284.91)]
    assert [(end.wall, end.line) for end in run.ends] == [(345.0, 5)]
    assert run.sizes == [(3, round(2.3 * 2**30))]


def test_a_marker_behind_a_drawing_is_found() -> None:
    run = read([epoch(1, 20, 3) + f"{LOGGER}Starting checkpoint save...", "done"])
    assert events(run) == [(EventKind.SAVE, 20, None)]


def test_packing_is_not_training() -> None:
    packing = "\r".join(draw(n, 51760, n / 9, "Packing dataset") for n in range(0, 51760, 50))
    run = read([packing, epoch(1, 20, 3)])
    assert list(run.wall)[-1] == 60.0


def test_the_bar_of_the_epoch_before_is_closed_after_the_new_one_is_drawn() -> None:
    first, second = epoch(1, 20, 3), epoch(2, 20, 3).split("\r")
    closed = draw(20, 20, 100, "1|20|Loss: 2.98")
    run = read([first, *save(40.0), "\r".join([second[0], closed, *second[1:]])])
    assert list(run.step) == list(range(1, 41))
    assert list(run.wall)[19:21] == [60.0, 103.0]
    assert events(run) == [(EventKind.SAVE, 20, 40.0), (EventKind.EPOCH, 20, None)]


def test_a_run_resumed_in_the_second_epoch_counts_from_there() -> None:
    run = read([epoch(2, 20, 3)])
    assert list(run.step) == list(range(21, 41))


def test_a_run_resumed_inside_an_epoch_counts_from_there() -> None:
    """Newer recipes draw the count and the steps at which they resume."""
    first = draw(5, 20, 0, "1|25")
    rest = epoch(2, 20, 3, begin=5).split("\r")[1:]
    run = read(["\r".join([first, *rest])])
    assert list(run.step) == list(range(26, 41))


def test_a_restart_repeats_steps() -> None:
    crashed = "\r".join(epoch(2, 20, 3).split("\r")[:21])
    banner = f"{LOGGER}Running LoRAFinetuneRecipeSingleDevice with resolved config:"
    loading = f"{LOGGER}Loading checkpoint from /out/epoch_0"
    run = read([banner, epoch(1, 20, 3), crashed, "Killed", banner, loading, epoch(2, 20, 3)])
    assert list(run.step) == [*range(1, 21), *range(21, 31), *range(21, 41)]
    assert events(run) == [
        (EventKind.START, 0, None),
        (EventKind.EPOCH, 20, None),
        (EventKind.START, 30, None),
        (EventKind.LOAD, 30, None),
    ]


def test_a_banner_of_another_rank_is_no_restart() -> None:
    banner = f"{LOGGER}Running FullFinetuneRecipeDistributed with resolved config:"
    drawn = epoch(1, 20, 3).split("\r")
    run = read([banner, "\r".join(drawn[:9]), banner, "\r".join(drawn[9:])])
    assert events(run) == [(EventKind.START, 0, None)]


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ("Saving checkpoint took 12.50 secs", (EventKind.SAVE, 20, 12.5)),
        ("Saving asynchronous checkpoint took 2.50 secs", (EventKind.SAVE, 20, 2.5)),
        ("Saving checkpoint asynchronously. Retrieving", (EventKind.SAVE, 20, None)),
        ("Validation loss: 1.2345", (EventKind.EVAL, 20, None)),
        (
            "DistributedCheckpointer loaded the checkpoint in 3.20 seconds.",
            (EventKind.LOAD, 20, None),
        ),
    ],
)
def test_pauses_are_marked(line: str, event: tuple[EventKind, int, float | None]) -> None:
    assert events(read([epoch(1, 20, 3), LOGGER + line])) == [event]


def test_a_text_log_has_steps_and_the_times_in_front_of_its_lines() -> None:
    lines = [
        f"2026-01-01 00:00:{5 * n:02} Step {n} | loss:1.07{n} lr:2e-05 "
        f"tokens_per_second_per_gpu:5123.{n} peak_memory_active:31.9 "
        for n in range(1, 6)
    ]
    run = read([*lines[:3], "Step 3 | val_loss:1.2 ", *lines[3:]])
    assert list(run.step) == [1, 2, 3, 4, 5]
    assert [after - before for before, after in pairwise(run.wall)] == [5.0] * 4
    assert run.clock_is_absolute
    assert events(run) == [(EventKind.EVAL, 3, None)]
    assert all(Torchtune.sniff(line) for line in lines)


def test_a_json_log_has_steps_without_times() -> None:
    line = '{"step": 5, "loss": 1.2, "lr": 1e-05, "tokens_per_second_per_gpu": 5123.1}'
    run = read([line])
    assert Torchtune.sniff(line)
    assert list(run.step) == [5]
    assert run.wall[0] != run.wall[0]


def test_steps_printed_beside_a_bar_do_not_count_twice() -> None:
    printed = "Step 5 | loss:1.07 lr:2e-05 tokens_per_second_per_gpu:5123.1"
    run = read([epoch(1, 20, 3) + printed, printed])
    assert list(run.step) == list(range(1, 21))


def test_a_log_of_bars_without_loss_is_read_too() -> None:
    run = read([draw(n, 20, 3 * n) for n in range(21)])
    assert list(run.step) == list(range(1, 21))


def test_other_bars_and_steps_are_not_recognised() -> None:
    assert Torchtune.sniff("1|12|Loss: 1.07:   2%|2  | 12/512 [00:28<19:20,  2.32s/it]")
    assert not Torchtune.sniff(draw(12, 512, 28))
    assert not Torchtune.sniff("Packing dataset:  0%| | 9/51760 [00:00<54:06, 15.94it/s]")
    assert not Torchtune.sniff("step   30 | loss: 3.2 | lr 1e-4 | norm: 0.2 | dt: 3962.06ms")
    assert not Torchtune.sniff("1|12|Loss: 1.07:   2%|2  | 12/512 [00:2")


def test_a_real_log_has_a_slow_first_step_and_a_long_closing_save(cases: Path) -> None:
    run = read_with(Torchtune, [Source(str(cases / "torchtune-tqdm.out"))])
    assert list(run.step) == list(range(1, 513))
    assert run.wall[0] == 28.0
    steps_s = [after - before for before, after in pairwise(run.wall)]
    assert fmean(steps_s) == pytest.approx(0.686, abs=0.005)
    assert max(steps_s) <= 2.0
    assert events(run) == [(EventKind.START, 0, None), (EventKind.SAVE, 512, 284.91)]
    assert [end.wall for end in run.ends] == [664.0]
