"""Settings at the head of a log: however a trainer prints them, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.explain.settings import MOST_LINES, read_settings
from instride.steps.source import Source


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        ("eval_interval = 250", {"eval_interval": 250}),
        ("Overriding: eval_interval = 250 # keep it frequent", {"eval_interval": 250}),
        ('  "save_steps": 500,', {"save_steps": 500}),
        ("args: --save-interval 1000 --eval-iters 10", {"save-interval": 1000}),
        ("  eval_interval ................................... 100", {"eval_interval": 100}),
        ("| val_loss_every        | 250                          |", {"val_loss_every": 250}),
        ("Namespace(num_workers=8, save_interval=2000)", {"num_workers": 8, "save_interval": 2000}),
        ("'trainer': {'save_freq': 20, 'test_freq': 10}", {"save_freq": 20, "test_freq": 10}),
        ("save_every_n_steps: 50", {"save_every_n_steps": 50}),
        ("eval_steps=0.1", {}),
        ("save_steps=1", {}),
        ("step 250: loss 3.2, time 100 ms", {}),
        ("my_eval_interval_s: 30", {}),
        ("evaluating every 250 steps", {}),
        ("save_steps=99999999999", {}),
    ],
)
def test_settings_are_found_in_a_line(line: str, settings: dict[str, int], tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"starting\n{line}\niter 0: loss 3.2\n")
    assert read_settings(Source(str(log))) == settings


def test_the_last_value_counts(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("eval_interval = 2000\nOverriding: eval_interval = 250\n")
    assert read_settings(Source(str(log))) == {"eval_interval": 250}


def test_only_the_head_is_read(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("iter\n" * MOST_LINES + "eval_interval = 250\n")
    assert read_settings(Source(str(log))) == {}
