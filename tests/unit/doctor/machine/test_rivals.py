"""Rules on processes that compete with training."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from instride.doctor.machine.activity import take_sample
from instride.doctor.machine.programs import Trade
from instride.doctor.machine.rivals import check_readers, check_rivals, lowering, names
from instride.doctor.model import Certainty, Finding, Share
from tests.unit.doctor.machine.busy import busy
from tests.unit.doctor.machine.making import a_process, a_sample
from tests.unit.doctor.saying import said

HOME = Path("/home/ada/repo")


def found(*processes: object, cpus: int = 8) -> list[Finding]:
    return list(check_rivals(a_sample(*processes), cpus, [HOME]))  # type: ignore[arg-type]


def test_a_real_compressor_is_a_rival(tmp_path: Path) -> None:
    with busy(tmp_path / "compress.py") as pid:
        findings = list(check_rivals(take_sample([]), 2, []))
    [finding] = [each for each in findings if each.certainty is Certainty.SURE]
    assert finding.rule == "rival-process"
    assert f"({pid})" in str(finding.facts["names"])
    assert finding.fixes[0].text
    assert said(finding)


def test_known_rivals_count_by_processors_or_by_the_disk() -> None:
    zstd = {"name": "zstd", "trade": Trade.COMPRESSOR}
    [finding] = found(a_process(**zstd, cores=2.0))
    assert finding.facts["share"] == Share(0.25)
    [finding] = found(a_process(**zstd, cores=0.1, io_bytes_per_s=50e6))
    assert finding.certainty is Certainty.SURE
    assert found(a_process(**zstd, cores=0.1, io_bytes_per_s=None)) == []


def test_other_programs_are_worth_a_look_if_they_take_much_for_a_while() -> None:
    [finding] = found(a_process(name="java", cores=4.0))
    assert finding.certainty is Certainty.PERHAPS
    assert found(a_process(name="java", cores=1.0)) == []
    assert found(a_process(name="java", cores=4.0, age_s=2.0)) == []


@pytest.mark.parametrize("folder", ["/home/ada/repo", "/home/ada/repo/scripts"])
def test_the_training_that_was_asked_about_is_no_rival(folder: str) -> None:
    assert found(a_process(trade=Trade.TRAINER, cores=8.0, folder=folder)) == []


@pytest.mark.parametrize("folder", ["/", "/work", "/other", None])
def test_another_training_is_worth_a_look(folder: str | None) -> None:
    assert len(found(a_process(trade=Trade.TRAINER, cores=8.0, folder=folder))) == 1


def test_a_training_in_a_folder_above_its_checkpoints_is_at_home() -> None:
    process = a_process(trade=Trade.TRAINER, cores=8.0, folder="/home/ada/repo")
    homes = [Path("/home/ada/repo/out")]
    assert list(check_rivals(a_sample(process), 8, homes)) == []


@pytest.mark.parametrize(
    ("trade", "certainty"),
    [(Trade.SYNCER, Certainty.SURE), (Trade.OTHER, Certainty.PERHAPS)],
)
def test_whoever_reads_checkpoints_is_told(trade: Trade, certainty: Certainty) -> None:
    process = a_process(trade=trade, open_checkpoints=("/data/out/step_1.pt",))
    [finding] = check_readers(a_sample(process), Path("/data/out"))
    assert finding.rule == "rival-reads-checkpoints"
    assert finding.certainty is certainty
    assert "/data/out/step_1.pt" in said(finding)["en"]


def test_a_training_that_reads_its_own_checkpoint_is_left_alone() -> None:
    process = a_process(trade=Trade.TRAINER, open_checkpoints=("/data/out/step_1.pt",))
    assert list(check_readers(a_sample(process), Path("/data/out"))) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="autogroups are Linux's")
def test_a_process_of_this_session_is_reniced(tmp_path: Path) -> None:
    with busy(tmp_path / "compress.py") as pid:
        assert lowering(pid).text == f"renice -n 19 -p {pid}"


def test_only_the_first_few_are_named() -> None:
    text = names([a_process(pid=pid, name="zstd") for pid in range(1, 9)])
    assert text == "zstd (1), zstd (2), zstd (3), ..."
