"""Steps from logs that grow, are cut off, rotated, buffered, or not there yet."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pytest

from instride.governor.tail import EVERY_S, HEAD_BYTES, TAIL_BYTES, LogSteps


class Trainer:
    """Writes a log as a training does, on a clock of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now_s = 1000.0
        self.step = 0

    def line(self, seconds: float) -> str:
        self.step += 1
        return (
            f"step {self.step}/9999 | loss 3.21 | lr 1.00e-4 | norm 0.90 | "
            f"{1000 * seconds:.2f} ms | 81.0% bf16 MFU | 500000 tok/s\n"
        )

    def write(self, *seconds: float) -> None:
        with self.path.open("a", encoding="utf-8") as log:
            log.write("".join(self.line(each) for each in seconds))
        self.now_s += sum(seconds)


@pytest.fixture
def trainer(tmp_path: Path) -> Trainer:
    return Trainer(tmp_path / "train.log")


def test_new_lines_are_steps_with_their_place_in_time(trainer: Trainer) -> None:
    trainer.write(*[0.5] * 30)
    log = LogSteps(trainer.path)
    assert log.read(trainer.now_s) == []  # what was there before has no place in time
    trainer.write(0.5, 0.6, 0.7)
    steps = log.read(trainer.now_s)
    assert [step.seconds for step in steps] == pytest.approx([0.5, 0.6, 0.7])
    assert steps[-1].end_s == pytest.approx(trainer.now_s)
    assert steps[0].end_s == pytest.approx(trainer.now_s - 1.3)


def test_each_step_comes_once(trainer: Trainer) -> None:
    trainer.write(*[0.5] * 30)
    log = LogSteps(trainer.path)
    log.read(trainer.now_s)
    taken = 0
    for _ in range(40):
        trainer.write(0.5)
        taken += len(log.read(trainer.now_s))
        trainer.now_s += EVERY_S
        taken += len(log.read(trainer.now_s))
    assert taken == 40


def test_a_log_longer_than_what_is_kept_goes_on(trainer: Trainer) -> None:
    trainer.write(*[0.5] * 5000)
    assert trainer.path.stat().st_size > 4 * (HEAD_BYTES + TAIL_BYTES)
    log = LogSteps(trainer.path)
    log.read(trainer.now_s)
    for _ in range(400):
        trainer.write(*[0.5] * 10)
        assert len(log.read(trainer.now_s)) == 10


def test_only_what_is_new_is_read(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer.write(*[0.5] * 5000)
    log = LogSteps(trainer.path)
    log.read(trainer.now_s)
    sought: list[int] = []
    opened = Path.open

    def watch(self: Path, *args: str, **options: str) -> object:
        file = opened(self, *args, **options)  # type: ignore[call-overload]
        return _Watched(file, sought) if self == trainer.path else file

    size = trainer.path.stat().st_size
    trainer.write(0.5)
    monkeypatch.setattr(Path, "open", watch)
    assert len(log.read(trainer.now_s)) == 1
    assert sought == [size]


class _Watched:
    def __init__(self, file: IO[bytes], sought: list[int]) -> None:
        self._file = file
        self._sought = sought

    def seek(self, offset: int) -> None:
        self._sought.append(offset)
        self._file.seek(offset)

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)

    def __enter__(self) -> _Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def test_a_line_that_is_half_written_waits_for_its_end(trainer: Trainer) -> None:
    trainer.write(*[0.5] * 30)
    log = LogSteps(trainer.path)
    log.read(trainer.now_s)
    line = trainer.line(0.5)
    with trainer.path.open("a") as file:
        file.write(line[:40])
    assert log.read(trainer.now_s + 1) == []
    with trainer.path.open("a") as file:
        file.write(line[40:])
    assert len(log.read(trainer.now_s + 2)) == 1


@pytest.mark.parametrize("how", ["truncated", "rotated"])
def test_a_log_that_begins_anew_is_followed(trainer: Trainer, how: str) -> None:
    trainer.write(*[0.5] * 300)
    log = LogSteps(trainer.path)
    log.read(trainer.now_s)
    if how == "truncated":
        trainer.path.write_text("")
    else:
        trainer.path.rename(trainer.path.with_suffix(".1"))
        trainer.path.touch()
    log.read(trainer.now_s + 1)
    trainer.write(*[0.25] * 5)
    log.read(trainer.now_s + 2)  # the first look at another file only finds the place
    trainer.write(*[0.25] * 5)
    steps = log.read(trainer.now_s + 3)
    assert [step.seconds for step in steps] == pytest.approx([0.25] * 5)


def test_a_log_that_is_not_there_yet_or_says_nothing_yet_is_looked_at_again(
    trainer: Trainer,
) -> None:
    log = LogSteps(trainer.path)
    assert log.read(0.0) == []
    trainer.path.write_text("loading the dataset\n")
    assert log.read(1.0) == []
    trainer.write(*[0.5] * 60)
    log.read(2.0)
    trainer.write(*[0.5] * 60)
    assert len(log.read(3.0)) == 60


def test_the_journal_of_a_saver_is_read_by_its_own_clock(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    begun = time.time() - 30.0

    def lines(first: int, last: int) -> str:
        return "".join(
            json.dumps(
                {"t": round(begun + 0.2 * step + 0.001, 6), "kind": "step", "step": step, "s": 0.2},
                separators=(",", ":"),
            )
            + "\n"
            for step in range(first, last)
        )

    path.write_text(lines(0, 100))
    log = LogSteps(path)
    log.read(0.0)
    with path.open("a") as file:
        file.write(lines(100, 145))
    now_s = 50.0
    steps = log.read(now_s)
    assert len(steps) == 45
    age_s = time.time() - (begun + 0.2 * 144)
    assert steps[-1].end_s == pytest.approx(now_s - age_s, abs=0.5)


def test_a_printed_step_of_ten_stands_for_itself_and_the_next_is_ten_steps_away(
    tmp_path: Path,
) -> None:
    path = tmp_path / "train.log"

    def lines(first: int, last: int) -> str:
        return "".join(
            f"iter {step}: loss 2.1, time 100.00ms, mfu 30.00%\n" for step in range(first, last, 10)
        )

    path.write_text(lines(0, 1000))
    log = LogSteps(path)
    log.read(0.0)
    with path.open("a") as file:
        file.write(lines(1000, 1050))
    steps = log.read(10.0)
    assert [step.span_s for step in steps] == pytest.approx([0.1] * 5)
    assert [step.end_s for step in steps] == pytest.approx([6.0, 7.0, 8.0, 9.0, 10.0])


def test_an_average_over_ten_steps_covers_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "train.log"

    def lines(first: int, last: int) -> str:
        return "".join(
            f" iteration {step:8d}/  100000 | consumed samples: {step:12d} | "
            "elapsed time per iteration (ms): 200.0 | learning rate: 1.000E-04 |\n"
            for step in range(first, last, 10)
        )

    path.write_text(lines(10, 1000))
    log = LogSteps(path)
    log.read(0.0)
    with path.open("a") as file:
        file.write(lines(1000, 1030))
    steps = log.read(10.0)
    assert [step.seconds for step in steps] == pytest.approx([0.2] * 3)
    assert [step.span_s for step in steps] == pytest.approx([2.0] * 3)
    assert [step.end_s for step in steps] == pytest.approx([6.0, 8.0, 10.0])


@pytest.mark.parametrize("zone_s", [0, 2 * 3600, -5 * 3600 - 1800])
def test_a_clock_with_parts_of_a_second_places_steps_exactly_whatever_its_zone(
    tmp_path: Path, zone_s: int
) -> None:
    path = tmp_path / "train.log"

    def lines(first: int, last: int, end: float) -> str:
        found = []
        for step in range(first, last):
            stamp = datetime.fromtimestamp(end - 0.2 * (last - 1 - step) + zone_s, UTC)
            found.append(
                f"{stamp:%Y-%m-%dT%H:%M:%S.%f} [Step {step:6d}] NORMAL       | total=200.0ms\n"
            )
        return "".join(found)

    now = int(time.time()) - 1 + 0.123456
    path.write_text(lines(0, 100, now - 4.0))
    log = LogSteps(path)
    log.read(0.0)
    assert log.resolution_s == EVERY_S
    with path.open("a") as file:
        file.write(lines(100, 120, now))
    steps = log.read(50.0)
    assert len(steps) == 20
    assert log.resolution_s == 0.0
    assert steps[-1].end_s == pytest.approx(50.0 - (time.time() - now), abs=0.5)
    assert steps[-1].end_s < 50.0


def test_no_step_is_lost_where_the_head_of_the_log_ends(trainer: Trainer) -> None:
    trainer.write(*[0.5] * 30)
    log = LogSteps(trainer.path)
    log.read(trainer.now_s)
    num_seen = 0
    while trainer.path.stat().st_size < HEAD_BYTES + TAIL_BYTES:
        line = trainer.line(0.5)
        with trainer.path.open("a") as file:
            file.write(line[:50])
        trainer.now_s += 0.25
        num_seen += len(log.read(trainer.now_s))
        with trainer.path.open("a") as file:
            file.write(line[50:])
        trainer.now_s += 0.25
        num_seen += len(log.read(trainer.now_s))
    assert num_seen == trainer.step - 30
