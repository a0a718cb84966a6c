"""Steps and series, from the names that scripts give."""

from __future__ import annotations

import pytest

from instride.agent.naming import place_of


@pytest.mark.parametrize(
    ("name", "series", "step"),
    [
        ("step_1000.pt", "step_#.pt", 1000),
        ("step_00001000.pt", "step_#.pt", 1000),
        ("ckpt-500.pth", "ckpt-#.pth", 500),
        ("model_0000999.pth", "model_#.pth", 999),
        ("epoch=3-step=1000.ckpt", "epoch=#-step=#.ckpt", 1000),
        ("epoch=02-val_loss=0.32.ckpt", "epoch=#-val_loss=#.ckpt", 2),
        ("run2_step_100.pt", "run2_step_#.pt", 100),
        ("checkpoint-7", "checkpoint-#", 7),
        ("7.pt", "#.pt", 7),
    ],
)
def test_a_name_has_a_series_and_a_step(name: str, series: str, step: int) -> None:
    assert place_of(name) == (series, step)


@pytest.mark.parametrize("name", ["best.pt", "latest.ckpt", "model.pt2", "ckpt"])
def test_a_name_without_a_number_is_in_no_series(name: str) -> None:
    assert place_of(name) is None
