"""The journal is what is read of a directory of checkpoints."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.explain.explaining import explain
from instride.explain.spans import Owner
from instride.steps.choosing import choose
from instride.steps.readers.journal import Journal
from instride.steps.reading import read_with
from tests.unit.readers.journal_lines import START_S, STEP_S, beats, call, start


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A directory of checkpoints, with a journal and a log of the trainer beside them."""
    lines = [start(START_S), *beats(START_S, 0, 200, {50: 0.3, 100: 0.3, 150: 0.3})]
    paid = 0.0
    for id, step in enumerate((50, 100, 150)):
        lines.append(call(START_S + (step + 1) * STEP_S + paid + 0.0001, step, 0.3, id))
        paid += 0.3
    (tmp_path / ".instride").mkdir()
    (tmp_path / ".instride" / "journal.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "step_00000050.pt").write_bytes(b"PK\x03\x04")
    log = "".join(f"iter {i}: loss 2.0, time 100.00ms, mfu 1.00%\n" for i in range(100))
    (tmp_path / "train.log").write_text(log)
    return tmp_path


@pytest.mark.parametrize("below", ["", ".instride"])
def test_the_journal_of_a_directory_is_taken_before_any_log(below: str, store: Path) -> None:
    choice = choose([str(store / below)], None, [])

    assert choice.reader is Journal
    assert [Path(source.name).name for source in choice.sources] == ["journal.jsonl"]


def test_another_dialect_that_was_asked_for_is_read_instead(store: Path) -> None:
    choice = choose([str(store)], "nanogpt", [])

    assert [Path(source.name).name for source in choice.sources] == ["train.log"]


def test_a_journal_without_a_step_leaves_the_log_to_be_read(store: Path) -> None:
    (store / ".instride" / "journal.jsonl").write_text(start(START_S) + "\n")

    assert choose([str(store)], None, []).reader is not Journal


def test_saves_cost_exactly_what_the_journal_states(store: Path) -> None:
    choice = choose([str(store)], None, [])

    ledger = explain(read_with(choice.reader, choice.sources), choice.sources).ledger

    assert ledger.accounts[Owner.SAVE].seconds == pytest.approx(0.9, abs=1e-3)
    assert ledger.baseline_s == pytest.approx(STEP_S, abs=1e-3)
    assert ledger.wall_s == pytest.approx(20.9, abs=0.2)
