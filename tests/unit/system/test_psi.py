"""Pressure stall information."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.system import psi
from instride.system.psi import Pressure, Stall

TEXT = (
    "some avg10=12.50 avg60=3.00 avg300=0.10 total=2500000\n"
    "full avg10=1.00 avg60=0.00 avg300=0.00 total=40\n"
)


def test_shares_and_seconds_are_read(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text(TEXT)
    expected = Pressure(Stall(0.125, 0.03, 0.001, 2.5), Stall(0.01, 0.0, 0.0, 4e-05))
    assert psi.read("memory", tmp_path) == expected


def test_older_kernels_have_no_full_line_for_the_cpu(tmp_path: Path) -> None:
    (tmp_path / "cpu").write_text(TEXT.splitlines()[0])
    pressure = psi.read("cpu", tmp_path)
    assert pressure is not None
    assert pressure.full is None


@pytest.mark.parametrize("text", ["", "some avg10=x\n", "full avg10=0.0 avg60=0.0\n"])
def test_what_cannot_be_read_is_unknown(tmp_path: Path, text: str) -> None:
    (tmp_path / "io").write_text(text)
    assert psi.read("io", tmp_path) is None


def test_without_the_file_nothing_is_known(tmp_path: Path) -> None:
    assert psi.read("io", tmp_path) is None


def test_this_kernel_is_understood_if_it_tells() -> None:
    pressure = psi.read("cpu")
    if pressure is None:
        pytest.skip("this kernel does not count pressure")
    assert 0 <= pressure.some.avg10 <= 1
    assert pressure.some.total_s >= 0
