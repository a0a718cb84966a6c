"""The verbs about checkpoints, on a directory that a training saves into while they look."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch

import instride
from instride.cli.main import main

pytestmark = pytest.mark.torch
Printed = pytest.CaptureFixture[str]


def test_a_training_that_saves_is_named_and_not_disturbed(tmp_path: Path, capsys: Printed) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(4, 4)) as saver:
        for step in (1, 2, 3):
            saver.save(step, metric=0.5).wait(60)

        assert main(["list", str(tmp_path), "--json"]) == 0
        listing = json.loads(capsys.readouterr().out)
        assert main(["verify", str(tmp_path)]) == 0
        assert main(["prune", str(tmp_path), "--keep-last", "1", "--dry-run"]) == 0
        assert main(["prune", str(tmp_path), "--keep-last", "1"]) == 31
        saver.save(4).wait(60)

    assert listing["owner"]["trainer_pid"] == os.getpid()
    assert [entry["state"] for entry in listing["checkpoints"]] == ["committed"] * 3
    assert len(list(tmp_path.glob("step_*.pt"))) == 4


def test_after_the_training_the_directory_is_free_and_can_be_pruned(
    tmp_path: Path, capsys: Printed
) -> None:
    model = torch.nn.Linear(4, 4)
    with instride.Saver(tmp_path, model=model) as saver:
        for step in (1, 2, 3):
            saver.save(step).wait(60)

    assert main(["prune", str(tmp_path), "--keep-last", "1"]) == 0
    assert main(["list", str(tmp_path)]) == 0
    assert "no training saves here now" in capsys.readouterr().out
    with instride.Saver(tmp_path, model=model) as saver:
        assert saver.restore() == 4


def test_a_metric_that_is_no_number_is_said_and_compared_with_nothing(tmp_path: Path) -> None:
    keep = instride.Keep(last=1, best=1, best_is="highest")
    with instride.Saver(tmp_path, model=torch.nn.Linear(4, 4), keep=keep) as saver:
        saver.save(1, metric=0.5).wait(60)
        with pytest.warns(RuntimeWarning, match="metric=inf is no number to compare by"):
            saver.save(2, metric=float("inf")).wait(60)
        saver.save(3, metric=float("nan")).wait(60)
    assert sorted(path.name for path in tmp_path.glob("step_*.pt")) == [
        "step_00000001.pt",
        "step_00000003.pt",
    ]
