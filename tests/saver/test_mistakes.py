"""Slips that are easily made, and what is said to them."""

from __future__ import annotations

import argparse
import multiprocessing
from pathlib import Path
from typing import Literal

import pytest
import torch

import instride
from instride.errors import SaveFailedError, UnsafeCheckpointError

pytestmark = pytest.mark.torch


def test_a_number_of_checkpoints_is_no_retention(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"keep=3: .*instride\.Keep\(last=3\)"):
        instride.Saver(tmp_path, keep=3, model=torch.nn.Linear(2, 2))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("on_error", ["warn", "raise"])
def test_a_file_is_no_directory(tmp_path: Path, on_error: Literal["warn", "raise"]) -> None:
    script = tmp_path / "train.py"
    script.touch()
    with pytest.raises(ValueError, match=r"train\.py'.* it is a file; a Saver needs a folder"):
        instride.Saver(script, on_error=on_error, model=torch.nn.Linear(2, 2))


def test_a_directory_that_cannot_be_made_is_told_of_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = tmp_path / "file" / "store"
    with pytest.warns(RuntimeWarning, match=r"(?s)nothing can be saved now.*hint: `df -h"):
        saver = instride.Saver(store, model=torch.nn.Linear(2, 2))
    saver.close()
    with pytest.raises(SaveFailedError, match=r"nothing can be saved now: .*Not a directory"):
        instride.Saver(store, on_error="raise", model=torch.nn.Linear(2, 2))


def test_what_cannot_be_pickled_has_nothing_to_do_with_the_disk(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        with pytest.warns(RuntimeWarning, match=r"`torch\.save` of the same state"):
            (failed := saver.save(1, extra={"why": lambda: None})).await_done(60)
        saver.save(2).wait(60)
    assert failed.error is not None
    assert "df -h" not in failed.error.hint


def test_what_restore_will_refuse_is_told_when_it_is_saved(tmp_path: Path) -> None:
    """Hours later, a training that was to go on would not."""
    model = torch.nn.Linear(2, 2)
    with instride.Saver(tmp_path, model=model) as saver:
        with pytest.warns(RuntimeWarning, match=r"(?s)saver\.restore.*hint: .*weights_only=False"):
            saver.save(1, extra={"options": argparse.Namespace(lr=1)}).wait(60)
        with pytest.raises(UnsafeCheckpointError):
            saver.restore()
        assert saver.restore(weights_only=False) == 2


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
