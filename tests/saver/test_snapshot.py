"""A snapshot is the state at `save()`: whatever is written afterwards is not in it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import SaveFailedError, StateTooLargeError
from instride.snapshot.arena import LEAST_SLOTS, Arena
from instride.store.manifest import PIECE_BYTES
from tests.crash.trainings import engine_of
from tests.saver.states import assert_same

pytestmark = pytest.mark.torch

NUM_SAVES = 75


def test_a_file_holds_the_state_at_the_call_however_soon_it_is_overwritten(tmp_path: Path) -> None:
    tensors = {str(n): torch.zeros(1 + 1000 * n) for n in range(40)}
    numbers: dict[str, Any] = {"list": [0], "deep": {"set": {0}}}

    for save in range(NUM_SAVES):
        for tensor in tensors.values():
            tensor.fill_(save)
        numbers["list"][0] = save
        pending = instride.save({"t": tensors, "n": numbers}, tmp_path / "x.pt")
        for tensor in tensors.values():
            tensor.fill_(-1.0)
        numbers["list"][0] = -1
        pending.wait(60)

        loaded = torch.load(tmp_path / "x.pt", weights_only=True)
        assert loaded["n"]["list"] == [save]
        assert all(bool((tensor == save).all()) for tensor in loaded["t"].values())


def test_an_optimizer_that_goes_on_is_not_seen(tmp_path: Path) -> None:
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.AdamW(model.parameters())
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        for step in range(10):
            train_one(model, optimizer)
            wanted = copied(model, optimizer)
            pending = saver.save(step)
            train_one(model, optimizer)
            path = pending.wait(60).path

            saved = torch.load(path, weights_only=True)
            assert_same(dict(saved["model"]), wanted["model"])
            assert_same(saved["optimizer"]["state"], wanted["optimizer"]["state"])


def train_one(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model(torch.randn(4, 64)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def copied(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """A deep copy, made the slow and certain way."""
    import copy

    return {
        "model": {name: value.clone() for name, value in model.state_dict().items()},
        "optimizer": copy.deepcopy(optimizer.state_dict()),
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda p: setattr(p, "data", torch.ones(64, 64)),
        lambda p: p.data.resize_(32, 64),
        lambda p: p.data.t_(),
        lambda p: setattr(p, "data", p.data.to(torch.float64)),
    ],
    ids=["other memory", "smaller", "turned", "wider"],
)
def test_a_tensor_that_became_another_between_two_saves_is_saved_as_it_is(
    change: Any, tmp_path: Path
) -> None:
    parameter = torch.nn.Parameter(torch.randn(64, 64))
    instride.save({"p": parameter}, tmp_path / "x.pt").wait(60)

    change(parameter)
    instride.save({"p": parameter}, tmp_path / "x.pt").wait(60)

    assert_same(torch.load(tmp_path / "x.pt", weights_only=True), {"p": parameter})


BASE = torch.complex(torch.arange(8.0), torch.ones(8))
ALIKE: dict[str, Callable[[], dict[str, Any]]] = {
    "fresh": lambda: {"a": BASE + 1, "b": BASE[:4].clone()},
    "the same": lambda: {"a": BASE, "b": BASE[:4] * 2},
    "conjugated": lambda: {"a": BASE.conj(), "b": BASE[:4] * 3},
    "shared": lambda: {"a": BASE, "b": BASE[:4]},
    "a parameter": lambda: {
        "a": torch.nn.Parameter(BASE, requires_grad=False),
        "b": BASE[:4] * 4,
    },
    "in part": lambda: {"a": torch.cat([BASE, BASE])[8:], "b": BASE[:4] * 5},
    "nested": lambda: {"a": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])},
}


@pytest.mark.filterwarnings("ignore:instride:RuntimeWarning", "ignore:The PyTorch API of nested")
@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(ALIKE, 2)))
def test_states_that_look_alike_are_not_taken_for_each_other(
    one: str, other: str, tmp_path: Path
) -> None:
    for name in (one, other, one):
        state = ALIKE[name]()
        instride.save(state, tmp_path / "x.pt").wait(60)
        torch.save(state, tmp_path / "plain.pt")

        loaded, wanted = (torch.load(tmp_path / f) for f in ("x.pt", "plain.pt"))
        assert [value.is_nested for value in loaded.values()] == [name == "nested"] * len(wanted)
        if name == "nested":
            loaded, wanted = ({"a": each["a"].unbind()} for each in (loaded, wanted))
        assert_same(loaded, wanted)


def test_fresh_tensors_at_every_save_are_not_planned_anew(tmp_path: Path) -> None:
    model = torch.nn.Linear(8, 8)
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(0, extra={"seen": torch.zeros(100)}).wait(60)
        plan = engine_of(saver)._stager._plan
        for step in range(1, 4):
            seen = torch.full((100,), float(step))
            path = saver.save(step, extra={"seen": seen}).wait(60).path

            assert engine_of(saver)._stager._plan is plan
            assert bool((torch.load(path)["extra"]["seen"] == step).all())


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad])
def test_a_save_while_evaluating_is_like_any_other(mode: Any, tmp_path: Path) -> None:
    model = torch.nn.Linear(8, 8)
    with instride.Saver(tmp_path, model=model) as saver:
        for step, values in enumerate((100, 100_000, 200_000)):
            extra = {"seen": torch.full((values,), float(step))}
            with mode():
                paths = [saver.save(2 * step, extra=extra | {"fresh": torch.ones(9)}).wait(60).path]
            paths.append(saver.save(2 * step + 1, extra=extra).wait(60).path)
            for path in paths:
                assert bool((torch.load(path)["extra"]["seen"] == step).all())
        assert all(p.requires_grad for p in model.parameters())
        model(torch.ones(2, 8)).sum().backward()


def test_a_state_larger_than_its_memory_streams_through_it(tmp_path: Path) -> None:
    model = torch.nn.Linear(4096, 4096)
    budget = 16 << 20
    with instride.Saver(tmp_path, model=model, memory_bytes=budget) as saver:
        wanted = {name: value.clone() for name, value in model.state_dict().items()}
        path = saver.save(1).wait(60).path
        with torch.no_grad():
            model.weight.fill_(7)
        second = saver.save(2).wait(60).path

    assert_same(dict(torch.load(path, weights_only=True)["model"]), wanted)
    assert bool((torch.load(second, weights_only=True)["model"]["weight"] == 7).all())


def test_a_state_that_only_torch_can_save_and_that_is_too_large_is_said_to_be(
    tmp_path: Path,
) -> None:
    state = {"a": torch.ones(16 << 20), "b": torch.ones(3, dtype=torch.complex64).conj()}
    model = torch.nn.Linear(2, 2)
    with instride.Saver(tmp_path, model=model, memory_bytes=16 << 20) as saver:
        with pytest.warns(RuntimeWarning, match="does not fit"):
            pending = saver.save(1, extra=state)
        with pytest.raises(StateTooLargeError):
            pending.wait(60)
        saver.save(2).wait(60)


def test_memory_that_is_gone_when_the_save_comes_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Arena, "populate", lambda self: None)  # it did not get that far
    model = torch.nn.Linear(2048, 4096)
    with instride.Saver(tmp_path, model=model) as saver:
        monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: 0)
        pending = saver.save(1)
        files = [os.fstat(fd) for fd in engine_of(saver)._stager.arena.fds]
        path = pending.wait(60).path

    taken_bytes = sum(each.st_blocks * 512 for each in files)
    assert taken_bytes <= LEAST_SLOTS * PIECE_BYTES < sum(each.st_size for each in files)
    assert_same(dict(torch.load(path)["model"]), dict(model.state_dict()))


def test_a_process_that_has_no_maps_left_trains_on_and_is_told_why_nothing_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "max_map_count"
    limit.write_text("10")
    monkeypatch.setattr("instride.system.striped.MOST_MAPS", limit)
    monkeypatch.setattr("instride.system.striped.FEW_STRIPES", 0)
    model = torch.nn.Linear(64, 64)
    with instride.Saver(tmp_path / "store", model=model) as saver:
        with pytest.warns(RuntimeWarning, match="was not saved"):
            pending = saver.save(1)
        with pytest.raises(SaveFailedError, match=r"of 10 memory maps are in use.*max_map_count"):
            pending.wait(60)
        limit.unlink()
        path = saver.save(2).wait(60).path
    assert_same(dict(torch.load(path)["model"]), dict(model.state_dict()))
