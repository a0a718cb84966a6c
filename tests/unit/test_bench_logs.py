"""The logs that the benchmark makes: what it measures is only as good as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.logs import DIALECTS, write_log
from instride.steps.model import EventKind, Run
from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.recording import Recording
from instride.steps.source import Source

NUM_BYTES = 300_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    log = tmp_path_factory.mktemp("bench") / "train.log"
    write_log(log, "nanogpt", NUM_BYTES)
    recording = Recording(NanoGPT.dialect)
    reader = NanoGPT(recording)
    for number, line in Source(str(log)).lines():
        reader.feed(number, line)
    return recording.finish()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_log_has_the_size_that_was_asked_for_and_is_the_same_every_time(
    dialect: str, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.log", tmp_path / "second.log"
    write_log(first, dialect, NUM_BYTES)
    write_log(second, dialect, NUM_BYTES)
    assert NUM_BYTES <= first.stat().st_size < 1.05 * NUM_BYTES
    assert first.read_bytes() == second.read_bytes()


def test_training_goes_back_to_the_last_checkpoint_once(run: Run) -> None:
    back = [at for at in range(1, len(run)) if run.step[at] != run.step[at - 1] + 1]
    assert len(back) == 1
    assert run.step[back[0]] == run.step[back[0] - 1] // 1000 * 1000 > 0
    assert sum(event.kind is EventKind.START for event in run.events) == 2


def test_steps_are_slow_for_a_while_after_each_save(run: Run) -> None:
    saves = [event.at for event in run.events if event.kind is EventKind.SAVE]
    assert saves
    for save in saves:
        assert min(run.seconds[save + 1 : save + 60]) > 0.8
        assert max(run.seconds[save + 61 : save + 200]) < 0.5
