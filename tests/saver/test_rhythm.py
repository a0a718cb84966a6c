"""When a save is due, and what may be given as a step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import instride

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("every", [5, np.int64(5), torch.tensor(5), np.int32(5)])
def test_whole_numbers_of_every_library_will_do(tmp_path: Path, every: Any) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        due = [step for step in range(12) if saver.due(0 * every + step, every=every)]
        assert due == [5, 10]
        assert saver.save(every).wait(60).path.name == "step_00000005.pt"


@pytest.mark.parametrize("every", [0, -1, 2.0, "soon", "0min", np.float64(3)])
def test_what_is_no_interval_is_refused_by_its_value(tmp_path: Path, every: Any) -> None:
    saver = instride.Saver(tmp_path, model=torch.nn.Linear(2, 2))
    with saver, pytest.raises(ValueError, match="every="):
        saver.due(1, every=every)


@pytest.mark.parametrize("step", [-1, 1.0, True, "1", 2**63, None])
def test_what_is_no_step_is_refused_by_its_value(tmp_path: Path, step: Any) -> None:
    saver = instride.Saver(tmp_path, model=torch.nn.Linear(2, 2))
    with saver, pytest.raises(ValueError, match="step="):
        saver.save(step)
