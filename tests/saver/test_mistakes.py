"""Slips that are easily made, and what is said to them."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
import torch

import instride

pytestmark = pytest.mark.torch


def test_a_number_of_checkpoints_is_no_retention(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"keep=3: .*instride\.Keep\(last=3\)"):
        instride.Saver(tmp_path, keep=3, model=torch.nn.Linear(2, 2))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_save_after_the_end_is_told_to_come_before_it(tmp_path: Path) -> None:
    saver = instride.Saver(tmp_path, model=torch.nn.Linear(2, 2))
    saver.close()
    with pytest.warns(RuntimeWarning, match="closed before"):
        late = saver.save(1)
    assert late.error is not None
    assert "before `saver.close()`" in late.error.hint


def test_a_save_in_a_forked_worker_is_told_where_to_save(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)

        def work() -> None:
            with pytest.warns(RuntimeWarning, match="was forked"):
                sender.send(getattr(saver.save(1).error, "hint", None))

        worker = context.Process(target=work)
        worker.start()
        assert receiver.poll(60)
        assert "the process that made the `Saver`" in receiver.recv()
        worker.join()
        assert worker.exitcode == 0
