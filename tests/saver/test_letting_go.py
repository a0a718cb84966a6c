"""What was saved and is not needed any more does not stay in memory because it was saved."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef

import instride
from tests.saver.states import assert_same

pytestmark = pytest.mark.torch


def test_a_state_is_not_kept_alive_once_it_is_saved(tmp_path: Path) -> None:
    state = {"a": torch.ones(1000), "b": [torch.zeros(3), torch.ones(2, 2)]}
    storages = [StorageWeakRef(each.untyped_storage()) for each in (state["a"], *state["b"])]

    instride.save(state, tmp_path / "x.pt").wait(60)
    del state

    assert all(storage.expired() for storage in storages)


def test_what_was_let_go_of_is_saved_anew(tmp_path: Path) -> None:
    kept = torch.arange(5.0)
    for number in range(3):
        state = {"kept": kept, "fresh": torch.full((1000,), float(number)), "none": torch.empty(0)}
        instride.save(state, tmp_path / "x.pt").wait(60)

        assert_same(torch.load(tmp_path / "x.pt"), state)


def test_what_goes_along_with_a_save_is_not_kept_alive(tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 4)
    with instride.Saver(tmp_path, model=model) as saver:
        for step in range(3):
            extra = {"seen": torch.full((1000,), float(step))}
            storage = StorageWeakRef(extra["seen"].untyped_storage())
            pending = saver.save(step, extra=extra)
            del extra
            path = pending.wait(60).path

            assert storage.expired()
            assert torch.load(path)["extra"]["seen"].tolist() == [step] * 1000


def test_parameters_that_were_replaced_are_saved_as_they_are(tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 4)
    with instride.Saver(tmp_path, model=model) as saver:
        for step in range(3):
            model.weight.data = torch.full((4, 4), float(step))
            path = saver.save(step).wait(60).path

            assert_same(torch.load(path)["model"]["weight"], model.weight.data)


def test_an_optimizer_is_let_go_of_when_its_saver_is_closed(tmp_path: Path) -> None:
    """At once: on a GPU its memory is wanted for what is trained next, and nobody knows when
    garbage is collected."""
    torch.optim.AdamW(torch.nn.Linear(1, 1).parameters())  # torch keeps the first one of a process
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    gc.collect()
    gc.disable()
    try:
        with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
            model(torch.ones(1, 4)).sum().backward()
            optimizer.step()
            saver.save(1).wait(60)
            optimizer.step()
        gone = [weakref.ref(model), weakref.ref(optimizer), weakref.ref(model.weight)]
        del model, optimizer, saver
        assert [each() for each in gone] == [None] * 3
    finally:
        gc.enable()
