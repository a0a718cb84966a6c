"""What is restored goes to devices that the training uses, and is not on them twice.

There is no GPU here: tensors without memory stand for what is on one.
"""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import instride
from instride.saver import restoring, way_back
from instride.saver.parts import Part, gpus_of, kept_state
from instride.saver.placing import Homes, Placing, home_of
from tests.saver.holding import Holder, saved

pytestmark = pytest.mark.torch

STAND_IN = torch.device("meta")
WIDTH = 300


@pytest.mark.parametrize(
    ("location", "live", "home"),
    [
        ("cpu", ["cuda:0"], "cpu"),
        ("mps", ["cuda:0"], "cpu"),
        ("cuda:0", [], "cpu"),
        ("cuda:0", ["cuda:0"], "cuda:0"),
        ("cuda", ["cuda:0"], "cuda:0"),
        ("cuda:0", ["cuda:3"], "cuda:3"),
        ("cuda", ["cuda:3"], "cuda:3"),
        ("cuda:2", ["cuda:1", "cuda:2"], "cuda:2"),
        ("cuda", ["cuda:0", "cuda:1"], "cuda:0"),
        ("cuda:0", ["cuda:1", "cuda:2"], "cpu"),
        ("cuda:9999", ["cuda:1", "cuda:2"], "cpu"),
    ],
)
def test_only_a_gpu_that_is_in_use_is_a_home(location: str, live: list[str], home: str) -> None:
    assert home_of(location, Homes(set(map(torch.device, live)))) == torch.device(home)


@pytest.mark.parametrize(
    ("location", "live", "home"),
    [
        ("cuda:1", ["cuda:0"], "cuda:1"),  # a teacher, beside the parts
        ("cuda:5", ["cuda:0"], "cuda:0"),
        ("cuda:5", [], "cuda:2"),
        ("cuda:1", [], "cuda:1"),
        ("cpu", [], "cpu"),
    ],
)
def test_what_belongs_to_nobody_may_go_to_any_gpu_that_the_process_uses(
    location: str, live: list[str], home: str
) -> None:
    in_use = {torch.device("cuda", 0), torch.device("cuda", 1), torch.device("cuda", 2)}
    homes = Homes(set(map(torch.device, live)), in_use, torch.device("cuda", 2))
    assert home_of(location, homes) == torch.device(home)


def test_modules_and_optimizers_tell_which_gpus_are_in_use() -> None:
    model = torch.nn.Module()
    with FakeTensorMode():
        model.weight = torch.nn.Parameter(torch.empty(2, device="cuda:3"))
        model.register_buffer("seen", torch.empty(2, device="cuda:1"))
    optimizer = torch.optim.AdamW(model.parameters())
    on_host = torch.nn.Linear(2, 2)

    assert gpus_of(optimizer) == {torch.device("cuda:3")}
    assert gpus_of(on_host, model) == {torch.device("cuda:1"), torch.device("cuda:3")}
    assert gpus_of(on_host, torch.optim.AdamW(on_host.parameters())) == set()


class Together(Holder):
    """Must not be asked by one process alone."""

    def state_dict(self) -> Any:
        raise AssertionError


def test_other_parts_are_not_asked_for_their_state() -> None:
    assert gpus_of(Together(None)) == set()


def optimizer_of(*, is_hooked: bool) -> torch.optim.Optimizer:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))])
    if is_hooked:
        optimizer.register_load_state_dict_pre_hook(lambda *_: None)
    return optimizer


MOMENTS = {"state": {0: {"momentum_buffer": torch.ones(2)}}, "param_groups": [{"lr": 0.5}]}
SHADOW = {"state": torch.ones(2)}


class Scaled(torch.nn.Module):
    """Goes on with what it is given."""

    def get_extra_state(self) -> Any:
        return self.scale

    def set_extra_state(self, state: Any) -> None:
        self.scale = state


@pytest.mark.parametrize(
    ("part", "saved_state", "kept"),
    [
        (optimizer_of(is_hooked=False), MOMENTS, MOMENTS),
        (optimizer_of(is_hooked=True), MOMENTS, MOMENTS["param_groups"]),
        (optimizer_of(is_hooked=True), [1], None),
        (torch.nn.Linear(2, 2), {"weight": torch.ones(2, 2)}, None),
        (Scaled(), SHADOW, SHADOW),
        (Holder(None), SHADOW, SHADOW),
    ],
    ids=[
        "an optimizer",
        "one with a hook",
        "of something else",
        "a module",
        "one with state of its own",
        "a part of its own",
    ],
)
def test_modules_copy_what_they_are_given_and_others_may_keep_it(
    part: Part, saved_state: Any, kept: Any
) -> None:
    assert kept_state(part, saved_state) is kept


def places(tree: dict[str, torch.Tensor], kept: tuple[str, ...], location: str) -> dict[str, str]:
    """Where the tensors of a tree, once on a GPU, are put if some of them are kept."""
    addresses = [tensor.untyped_storage().data_ptr() for tensor in tree.values()]
    placing = Placing(
        list(tree.values()), dict.fromkeys(addresses, 0), dict.fromkeys(addresses, location)
    )
    for name in kept:
        placing.keep(tree[name], Homes({STAND_IN}))
    return {
        name: tensor.device.type for name, tensor in placing.rebuild(tree, lambda _: None).items()
    }


def test_what_is_copied_waits_on_the_host_and_what_is_shared_is_where_it_is_kept() -> None:
    shared = torch.ones(4)
    tree = {"moment": torch.ones(2), "weight": torch.ones(2), "a": shared[:2], "b": shared[2:]}

    assert places(dict(tree), ("moment", "a"), "cuda:0") == {
        "moment": "meta",
        "weight": "cpu",
        "a": "meta",
        "b": "meta",
    }
    assert set(places(dict(tree), ("moment", "a"), "cpu").values()) == {"cpu"}


def fresh() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH))
    return model, torch.optim.AdamW(model.parameters())


def test_where_a_gpu_has_no_room_all_goes_through_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was taken of it by then is let go of first."""
    model, optimizer = fresh()
    model(torch.ones(1, WIDTH)).sum().backward()
    optimizer.step()
    saved(tmp_path, model=model, optimizer=optimizer)
    other, others = fresh()
    empty, read_plainly = torch.empty, restoring._read_plainly
    made: list[weakref.ref[torch.Tensor]] = []

    def short(*size: Any, **how: Any) -> torch.Tensor:
        memory = empty(*size, **how)
        if size == (WIDTH * WIDTH * 4,):
            made.append(weakref.ref(memory))
            if len(made) == 3:
                raise torch.OutOfMemoryError
        return memory

    def look(*of: Any, **how: Any) -> Any:
        assert [each() for each in made] == [None] * 3
        return read_plainly(*of, **how)

    monkeypatch.setattr("instride.saver.placing.torch.empty", short)
    monkeypatch.setattr(restoring, "_read_plainly", look)
    gc.disable()
    try:
        with instride.Saver(tmp_path, model=other, optimizer=others) as saver:
            assert saver.restore() == 4
    finally:
        gc.enable()

    assert len(made) == 3
    for ours, theirs in zip(other.parameters(), model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
        for name in ("exp_avg", "exp_avg_sq", "step"):
            assert torch.equal(others.state[ours][name], optimizer.state[theirs][name])


def test_nothing_is_prepared_beside_what_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next save can wait; whoever restores does."""
    saved(tmp_path, model=torch.nn.Linear(3, 3))
    read_state = restoring.read_state
    num_resting: list[int] = []
    with instride.Saver(tmp_path, model=torch.nn.Linear(3, 3)) as saver:
        helpers = saver._engine._stager.arena._helpers  # type: ignore[attr-defined]

        def look(*of: Any, **how: Any) -> Any:
            num_resting.append(helpers._num_resting)
            return read_state(*of, **how)

        monkeypatch.setattr(way_back, "read_state", look)
        saver.restore()
        num_resting.append(helpers._num_resting)
    assert num_resting == [1, 0]
