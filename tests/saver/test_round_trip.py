"""What is saved can be loaded without instride, and is the same to the last bit."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from tests.saver.states import STATES, assert_same

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:Sparse"),
]


@pytest.mark.parametrize("build", STATES.values(), ids=STATES)
def test_torch_load_gives_back_what_was_saved(build: Callable[[], Any], tmp_path: Path) -> None:
    state = build()

    instride.save(state, tmp_path / "x.pt").wait(60)

    assert_same(torch.load(tmp_path / "x.pt", weights_only=True), state)
    assert_same(torch.load(tmp_path / "x.pt", weights_only=True, mmap=True), state)
    assert_same(instride.load(tmp_path / "x.pt"), state)


@pytest.mark.parametrize("build", STATES.values(), ids=STATES)
def test_the_file_is_a_sound_zip(build: Callable[[], Any], tmp_path: Path) -> None:
    instride.save(build(), tmp_path / "x.pt").wait(60)

    with zipfile.ZipFile(tmp_path / "x.pt") as archive:
        assert archive.testzip() is None


def test_what_is_shared_stays_shared(tmp_path: Path) -> None:
    instride.save(STATES["tied"](), tmp_path / "x.pt").wait(60)

    loaded = torch.load(tmp_path / "x.pt", weights_only=True)

    loaded["embedding"][3, 0] = 99.0
    assert loaded["head"][3, 0] == 99.0
    assert loaded["row"][0] == 99.0
    assert loaded["turned"][0, 3] == 99.0


def test_one_list_in_two_places_stays_one(tmp_path: Path) -> None:
    instride.save(STATES["cyclic"](), tmp_path / "x.pt").wait(60)

    loaded = torch.load(tmp_path / "x.pt", weights_only=True)

    assert loaded["a"] is loaded["b"]
    assert loaded["self"] is loaded


def test_load_waits_for_a_save_of_the_same_path(tmp_path: Path) -> None:
    state = {"w": torch.randn(1 << 20)}
    pending = instride.save(state, tmp_path / "x.pt")

    assert_same(instride.load(tmp_path / "x.pt"), state)
    assert pending.done


@pytest.mark.parametrize("spelling", ["folder/../x.pt", "link.pt", "again/x.pt"])
def test_load_waits_for_a_save_of_the_same_file_under_another_name(
    spelling: str, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "link.pt").symlink_to("x.pt")
    instride.save({"v": 1}, tmp_path / "x.pt").wait(60)
    state = {"v": 2, "w": torch.randn(1 << 20), "words": [str(n) for n in range(300_000)]}
    instride.save(state, tmp_path / "x.pt")

    assert instride.load(tmp_path / spelling)["v"] == 2


def test_numpy_scalars_become_numbers_of_the_same_value(tmp_path: Path) -> None:
    import numpy

    state = {"loss": numpy.float32(0.1), "count": numpy.int64(2**60), "flag": numpy.bool_(True)}
    instride.save(state, tmp_path / "x.pt").wait(60)

    loaded = torch.load(tmp_path / "x.pt", weights_only=True)

    assert loaded == {"loss": float(numpy.float32(0.1)), "count": 2**60, "flag": True}
    assert [type(value) for value in loaded.values()] == [float, int, bool]
