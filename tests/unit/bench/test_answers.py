"""A benchmark that was stopped goes on with the answers that it had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

torch = pytest.importorskip("torch")

from instride.bench import saving  # noqa: E402 - needs torch
from instride.bench.answers import BEGINNING, Asked, answers_in  # noqa: E402
from instride.bench.conditions import Conditions  # noqa: E402
from instride.bench.names import NOTHING, OURS, OURS_WITHOUT_ROOM  # noqa: E402
from instride.bench.ordering import Request  # noqa: E402
from instride.bench.orders import Hammered, Task  # noqa: E402
from instride.bench.report import Report  # noqa: E402
from instride.bench.scratch import SCRATCH  # noqa: E402
from instride.cli.render.bench import page_of  # noqa: E402
from instride.errors import CannotResumeError, UnwritableError  # noqa: E402
from tests.unit.bench.faked import MACHINE, Faked  # noqa: E402

pytestmark = pytest.mark.torch
WAYS = [NOTHING, "torch.save", OURS, OURS_WITHOUT_ROOM]
CONDITIONS = Conditions(1, MACHINE, 1000, "cuda", True)
NUM_ANSWERS = 2 * len(WAYS) + 1 + 5
"""Hammered and timed each, floors, upkeep, preparing twice, there and back, often."""


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> Faked:
    return Faked(monkeypatch)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def run(file: Path | None, *ways: str, **others: Any) -> Report:
    asked: dict[str, Any] = {
        "device": "cuda", "num_rounds": 1, "watches_memory": False, "num_params": 1000,
        "folder": "." if file is None else str(file.parent),
        "resume": None if file is None else str(file), **others,
    }  # fmt: skip
    return saving.run(Request(ways or WAYS, **asked))


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


@pytest.mark.parametrize("num_before", range(NUM_ANSWERS))
def test_what_was_stopped_goes_on_where_it_was(num_before: int, faked: Faked, file: Path) -> None:
    faked.stopped_after = num_before
    with pytest.raises(KeyboardInterrupt):
        run(file)
    faked.stopped_after = None
    report = run(file)
    assert len(faked.asked) == len(set(faked.asked)) == NUM_ANSWERS
    assert [row.name for row in report.rows] == WAYS
    assert (report.goes is None) == (num_before == 0)
    assert list(file.parent.iterdir()) == [file]


def test_a_file_makes_no_difference_to_what_is_reported(faked: Faked, file: Path) -> None:
    plain, kept, recalled = run(None), run(file), run(file)
    assert plain == kept == msgspec.structs.replace(recalled, goes=None)
    assert len(faked.asked) == 2 * NUM_ANSWERS


def test_each_line_says_what_was_asked_and_when(faked: Faked, file: Path) -> None:
    run(file)
    conditions, go, *kept = lines_of(file)
    assert conditions["num_params"] == 1000
    assert go["load"] == MACHINE.load
    assert len(kept) == NUM_ANSWERS
    assert all(go["begun"] <= line["at"] for line in kept)
    assert {"task": "time", "way": OURS, "round": 0, "num_saves": 3} in [
        line["asked"] for line in kept
    ]


def test_a_page_says_that_it_was_not_measured_in_one_go(faked: Faked, file: Path) -> None:
    faked.stopped_after = 3
    with pytest.raises(KeyboardInterrupt):
        run(file)
    faked.stopped_after = None
    faked.machine = msgspec.structs.replace(MACHINE, load=6.5)
    report = run(file)
    times = [line["at"] for line in lines_of(file) if "at" in line]
    assert report.goes is not None
    assert msgspec.to_builtins(report.goes) == {
        "num_goes": 2, "first": min(times), "last": max(times),
    }  # fmt: skip
    about = page_of(report).about
    assert "Measured in 2 goes, from 20" in about
    assert "load 6.5 at the start" in about
    assert "Measured in" not in page_of(run(None)).about
    faked.machine = MACHINE
    assert "load 6.5 at the start. Measured in 2 goes" in page_of(run(file)).about


def test_other_ways_add_rows(faked: Faked, file: Path) -> None:
    run(file, OURS)
    num_before = len(faked.asked)
    report = run(file, "torch.save")
    assert [row.name for row in report.rows] == [NOTHING, "torch.save", OURS]
    assert faked.asked[num_before:] == [(Task.HAMMER, "torch.save"), (Task.TIME, "torch.save")]
    assert report.left_out == []


def test_a_way_that_nobody_asks_for_is_not_measured_to_its_end(faked: Faked, file: Path) -> None:
    run(file, OURS)
    report = run(file, "torch.save", num_rounds=2)
    assert [row.name for row in report.rows] == [NOTHING, "torch.save"]
    assert [each.name for each in report.left_out] == [OURS]
    assert "`--ways` asks for the rest" in report.left_out[0].why


def test_more_rounds_are_added_and_other_numbers_of_saves_are_not_mixed(
    faked: Faked, file: Path
) -> None:
    run(file, OURS)
    num_before = len(faked.asked)
    run(file, OURS, num_rounds=2)
    assert faked.asked[num_before:] == [(Task.TIME, NOTHING), (Task.TIME, OURS), (Task.FLOORS, "")]
    num_before = len(faked.asked)
    run(file, OURS, num_saves=8)
    assert faked.asked[num_before:] == [(Task.TIME, OURS), (Task.TIME, NOTHING)]


def test_memory_that_nobody_looked_at_is_looked_at(faked: Faked, file: Path) -> None:
    run(file, OURS)
    num_before = len(faked.asked)
    run(file, OURS, watches_memory=True)
    assert sorted(faked.asked[num_before:]) == [(Task.HAMMER, OURS), (Task.HAMMER, NOTHING)]


def test_what_failed_is_tried_again(faked: Faked, file: Path) -> None:
    faked.failing = ["torch.save", Task.OFTEN]
    report = run(file)
    assert len(report.left_out) == 2
    faked.failing = ()
    faked.asked.clear()
    assert run(file).left_out == []
    assert sorted(faked.asked) == [
        (Task.HAMMER, "torch.save"), (Task.OFTEN, OURS), (Task.TIME, "torch.save"),
    ]  # fmt: skip


def test_ways_that_are_hammered_side_by_side_keep_their_answers_whole(
    faked: Faked, file: Path
) -> None:
    run(file, "dcp.save", "dcp.async_save", "lightning", "torch_checkpointing", *WAYS)
    hammered = [line for line in lines_of(file)[2:] if line["asked"]["task"] == "hammer"]
    assert len(hammered) == len(WAYS) + 4


def keep_one(file: Path, way: str = OURS) -> None:
    with answers_in(str(file), CONDITIONS) as answers:
        answers.begin(file.parent)
        answers.keep(Asked(Task.HAMMER, way), Hammered(5, 5), 7)


def test_a_line_that_a_kill_has_torn_is_forgotten_wherever_it_was(file: Path) -> None:
    keep_one(file, "one")
    before = file.read_bytes()
    keep_one(file, "another")
    after = file.read_bytes()
    for num_bytes in range(len(after)):
        file.write_bytes(after[:num_bytes])
        keep_one(file, "next")
        with answers_in(str(file), CONDITIONS) as answers:
            assert answers.find(Asked(Task.HAMMER, "next"), Hammered) == (Hammered(5, 5), 7)
            one = answers.find(Asked(Task.HAMMER, "one"), Hammered)
            assert (one is not None) == (num_bytes >= len(before))
        assert all(line["type"] for line in lines_of(file))


def test_what_this_version_does_not_understand_is_measured_again(faked: Faked, file: Path) -> None:
    run(file)
    lines = file.read_bytes().splitlines()
    (number,) = [n for n, line in enumerate(lines) if b'"SavedOften"' in line]
    lines[number] = lines[number].replace(b'"shares"', b'"parts"')
    file.write_bytes(b"\n".join([*lines, b"\xff\x00", b""]))
    faked.asked.clear()
    run(file)
    assert faked.asked == [(Task.OFTEN, OURS)]


@pytest.mark.parametrize(
    ("others", "torch_version", "named"),
    [
        ({"num_params": 2000}, "2.11", ["`num_params=1000` instead of `num_params=2000`"]),
        ({"is_synced_loop": False}, "2.11", ["`is_synced_loop=True` instead of"]),
        ({"device": "cpu"}, "2.11", ["`device=cuda` instead of `device=cpu`"]),
        ({"num_params": 7}, "2.13", ["`torch=2.11`", "`num_params=1000`", "`torch=2.13`"]),
    ],
)
def test_other_conditions_are_refused_by_name(
    others: dict[str, Any], torch_version: str, named: list[str], faked: Faked, file: Path
) -> None:
    run(file, OURS)
    before = file.read_bytes()
    faked.machine = msgspec.structs.replace(MACHINE, torch=torch_version)
    with pytest.raises(CannotResumeError) as refused:
        run(file, OURS, **others)
    assert [name for name in named if name not in str(refused.value)] == []
    assert f"--resume {file.parent / 'answers-2.jsonl'}" in refused.value.hint
    assert file.read_bytes() == before


def test_a_load_and_a_little_memory_are_no_other_machine(faked: Faked, file: Path) -> None:
    run(file)
    faked.asked.clear()
    faked.machine = msgspec.structs.replace(MACHINE, load=7.0, memory_bytes=(1 << 37) - (1 << 20))
    run(file)
    assert faked.asked == []
    faked.machine = msgspec.structs.replace(MACHINE, memory_bytes=1 << 36)
    with pytest.raises(CannotResumeError, match="memory_bytes"):
        run(file)


@pytest.mark.parametrize("content", [b"step 1", b'{"schema":1}\n', BEGINNING + b'"schema":1}\n'])
def test_a_file_of_something_else_is_refused_and_left_alone(
    content: bytes, faked: Faked, file: Path
) -> None:
    file.write_bytes(content)
    with pytest.raises(CannotResumeError, match="holds no answers"):
        run(file)
    assert file.read_bytes() == content


def test_two_commands_do_not_go_on_with_one_file(faked: Faked, file: Path) -> None:
    with (
        answers_in(str(file), CONDITIONS),
        pytest.raises(CannotResumeError, match="goes on with"),
    ):
        run(file)


def test_what_a_command_that_was_killed_left_on_the_disk_is_deleted(
    faked: Faked, file: Path
) -> None:
    left, others = file.parent / f"{SCRATCH}abc", file.parent / "checkpoints"
    for folder in (left, others):
        (folder / "bench-x").mkdir(parents=True)
        with answers_in(str(file), CONDITIONS) as answers:
            answers.begin(folder)
    run(file)
    assert not left.exists()
    assert others.exists()


def test_a_file_that_cannot_be_written_is_named_before_anything_is_measured(
    faked: Faked, tmp_path: Path
) -> None:
    with pytest.raises(UnwritableError, match="no-such-folder"):
        run(tmp_path / "no-such-folder" / "answers.jsonl", folder=str(tmp_path))
    assert faked.asked == []
