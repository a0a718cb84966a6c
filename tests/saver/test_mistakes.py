"""Slips that are easily made, and what is said to them."""

from __future__ import annotations

import argparse
import multiprocessing
import re
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

import instride
from instride.errors import NoCheckpointError, SaveFailedError, UnsafeCheckpointError

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
    with pytest.warns(RuntimeWarning, match=r"(?s)nothing can be saved now.*hint: `ls -ld"):
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
        with pytest.warns(RuntimeWarning, match=r"(?s)will `restore.*hint: .*weights_only=False"):
            saver.save(1, extra={"options": argparse.Namespace(lr=1)}).wait(60)
        with pytest.raises(UnsafeCheckpointError):
            saver.restore()
        assert saver.restore(weights_only=False) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": torch.nn.Linear}, "`model` is the class `Linear`: .*`model = Linear"),
        ({"kep": instride.Keep()}, "did you mean the option `keep=`?"),
        ({"retention": instride.Keep()}, "did you mean the option `keep=`?"),
        ({"when_bussy": "wait"}, "did you mean the option `when_busy=`?"),
        ({"scheduler": None}, "`scheduler` is None: leave it out"),
        ({"epoch": 3}, r"`epoch` is of type `int`.*extra=\{'epoch': \.\.\.\}"),
        ({"memory_bytes": "1GB"}, "memory_bytes='1GB': must be a whole number of bytes"),
        ({"memory_bytes": 1e9}, "memory_bytes=1000000000.0: must be a whole number of bytes"),
        ({"stall_s": "60"}, "stall_s='60': must be a number of seconds"),
        ({"stall_s": -1}, "stall_s=-1: must be a number of seconds"),
        ({"budget": "0.1"}, "budget='0.1': must be a share"),
        ({"pack": "yes"}, "pack='yes': must be True or False"),
        ({"strict": "no"}, "strict='no': must be True or False"),
    ],
)
def test_an_option_that_cannot_be_is_told_before_anything_is_made(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises((TypeError, ValueError), match=said.replace("=`?", "=`\\?")):
        instride.Saver(tmp_path / "new", **{"model": torch.nn.Linear(2, 2), **options})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("directory", ["", None, 3, b"runs", ["runs"], "a\0b"])
def test_a_directory_that_is_none_is_told(
    directory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError), match="directory="):
        instride.Saver(directory, model=torch.nn.Linear(2, 2))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["", None, 3, b"runs"])
def test_a_file_that_is_none_is_told(path: Any) -> None:
    for call in (lambda: instride.save({}, path), lambda: instride.load(path)):
        with pytest.raises((TypeError, ValueError), match=r"^path=.*'model\.pt'"):
            call()


def test_a_state_that_is_given_for_a_path_is_named_by_its_type_alone() -> None:
    state: Any = {"weights": torch.arange(1000)}
    with pytest.raises(TypeError, match=r"^path=<dict>: must be a path, as in 'model\.pt'$"):
        instride.save("model.pt", state)


def test_a_directory_in_the_place_of_a_file_is_called_one(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match=r"it is a directory\s+hint: name a file in it, as in"):
        (failed := instride.save({}, tmp_path)).await_done(60)
    assert failed.error is not None
    assert f"`{tmp_path}/model.pt`" in failed.error.hint


@pytest.mark.parametrize("is_there", [True, False])
def test_a_step_that_cannot_be_restored_is_answered_by_a_look_at_those_that_can(
    is_there: bool, tmp_path: Path
) -> None:
    """`verify` has nothing to say of a step that is not there, or is a file of somebody."""
    model = torch.nn.Linear(2, 2)
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1).wait(60)
        if is_there:
            torch.save({}, tmp_path / "step_00000005.pt")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that somebody's file is not restored
            with pytest.raises(NoCheckpointError) as raised:
                saver.restore(step=5)
    assert raised.value.hint == f"`instride list {tmp_path}` shows what is there"


@pytest.mark.parametrize(
    "step", [10.0, 10.5, "10", None, True, -1, 1 << 63, torch.tensor(10.0), torch.tensor([1, 2])]
)
def test_a_step_that_is_no_whole_number_is_told_wherever_it_is_given(
    step: Any, tmp_path: Path
) -> None:
    said = re.escape(f"step={step!r}: must be a whole number from 0 on")
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        for call in (lambda: saver.due(step, every=5), lambda: saver.save(step)):
            with pytest.raises(ValueError, match=said) as raised:
                call()
            assert ("int(step)" in str(raised.value)) == (type(step) is float and step == 10)
        if step is not None:
            with pytest.raises(ValueError, match=said):
                saver.restore(step=step)


@pytest.mark.parametrize("step", [10, np.int32(10), np.uint8(10), torch.tensor(10)])
def test_a_step_of_any_library_will_do(step: Any, tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        assert saver.due(step, every=5) is True
        assert saver.due(step, every=3) is False
        saver.save(step).wait()
        assert saver.restore(step=step) == 11


@pytest.mark.parametrize("metric", ["good", "0.5", [1], 1j, torch.ones(2), 10**400])
def test_a_metric_that_is_no_number_is_told(metric: Any, tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        with pytest.raises(TypeError, match=r"^metric=.{1,60}: must be one number.*loss\.item\(\)"):
            saver.save(1, metric=metric)
        loss = torch.tensor(0.5, requires_grad=True) * 1
        saver.save(2, metric=loss).wait()  # a warning of torch's would be an error here
    assert [path.name for path in tmp_path.glob("*.pt")] == ["step_00000002.pt"]


@pytest.mark.parametrize("extra", [[1, 2], [], 0, "x", {1}])
def test_what_goes_along_is_a_dictionary(extra: Any, tmp_path: Path) -> None:
    """Who resumes looks into it by name."""
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        with pytest.raises(TypeError, match=r"^extra=.*: must be a dictionary"):
            saver.save(1, extra=extra)
        saver.save(2, extra={"a": 1}).wait()
        saver.restore()
        assert saver.extra == {"a": 1}


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
