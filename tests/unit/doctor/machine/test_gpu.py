"""Rules on GPUs, and what the driver of this machine says, if there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from instride.doctor.machine.gpu_rules import check_gpu
from instride.doctor.machine.nvml import Gpu, has_driver, read_gpus
from instride.doctor.model import Certainty, Count, Finding
from tests.unit.doctor.machine.making import GB
from tests.unit.doctor.saying import said

GOOD = Gpu(
    index=1,
    name="H200",
    slowdowns=(),
    power_limit_w=700.0,
    default_power_limit_w=700.0,
    pids=(),
    memory_free_bytes=140 * GB,
    memory_total_bytes=141 * GB,
    link_width=16,
    link_width_max=16,
)


def found(own_pids: tuple[int, ...] = (), **changes: Any) -> list[Finding]:
    findings = list(check_gpu(msgspec.structs.replace(GOOD, **changes), own_pids))
    assert all("GPU 1 (H200)" in said(each)["en"] for each in findings)
    return findings


def test_a_gpu_in_good_health_is_left_alone() -> None:
    assert found() == []


def test_a_gpu_that_tells_nothing_is_left_alone() -> None:
    kept = {"index", "name", "slowdowns", "pids"}
    silent = {name: None for name in Gpu.__struct_fields__ if name not in kept}
    assert list(check_gpu(msgspec.structs.replace(GOOD, **silent), ())) == []


def test_heat_is_told() -> None:
    [finding] = found(slowdowns=("SwThermalSlowdown",))
    assert (finding.rule, finding.certainty) == ("gpu-throttled", Certainty.SURE)
    assert finding.facts["reason"] == "SwThermalSlowdown"


def test_a_lowered_power_limit_is_told_with_the_command_to_raise_it() -> None:
    [finding] = found(power_limit_w=400.0)
    assert finding.rule == "gpu-throttled"
    assert finding.fixes[0].text == "sudo nvidia-smi -i 1 -pl 700"


@pytest.mark.parametrize(
    ("pids", "own", "certainty"),
    [
        ((5,), (), Certainty.PERHAPS),
        ((5, 6), (), Certainty.LIKELY),
        ((5, 6), (6,), Certainty.LIKELY),
    ],
)
def test_other_processes_are_told(
    pids: tuple[int, ...], own: tuple[int, ...], certainty: Certainty
) -> None:
    [finding] = found(own, pids=pids)
    assert finding.facts["processes"] == Count(len(pids) - len(own))
    assert finding.certainty is certainty


def test_the_training_that_was_asked_about_may_fill_its_gpu() -> None:
    assert found((5,), pids=(5,), memory_free_bytes=GB) == []


def test_a_full_gpu_is_told() -> None:
    [finding] = found(memory_free_bytes=GB)
    assert finding.rule == "gpu-memory-full"


def test_a_narrow_link_is_told() -> None:
    [finding] = found(link_width=8)
    assert finding.facts["lanes"] == Count(8)


def test_without_a_gpu_nothing_is_said(tmp_path: Path) -> None:
    assert not has_driver(tmp_path / "none")
    assert not has_driver(tmp_path)
    if has_driver():
        pytest.skip("there is a GPU")
    assert not read_gpus()


def test_the_driver_of_this_machine_is_understood() -> None:
    gpus = read_gpus()
    if not gpus:
        pytest.skip("no GPU, or no library to ask its driver")
    assert all(gpu.memory_total_bytes and gpu.name for gpu in gpus)
    assert all(said(finding) for gpu in gpus for finding in check_gpu(gpu, ()))
