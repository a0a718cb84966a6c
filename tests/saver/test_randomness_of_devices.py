"""Generators of devices that no test has: only what torch is asked for is tried here."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import instride
from instride.saver.randomness import random_states, restore_random_states

pytestmark = pytest.mark.torch


class Pretended:
    """A backend of torch with so many devices. What its generators draw is their state."""

    def __init__(self, num_devices: int) -> None:
        self.states = [torch.full((16,), 10 * n, dtype=torch.uint8) for n in range(num_devices)]
        self.is_used = True

    def draw(self) -> list[int]:
        for state in self.states:
            state.add_(1)
        return [int(state[0]) for state in self.states]

    def is_available(self) -> bool:
        return bool(self.states)

    def is_initialized(self) -> bool:
        return self.is_used

    def device_count(self) -> int:
        return len(self.states)

    def get_rng_state_all(self) -> list[torch.Tensor]:
        assert self.is_used, "asking makes torch use the devices"
        return [state.clone() for state in self.states]

    def set_rng_state_all(self, states: list[torch.Tensor]) -> None:
        self.states = [state.clone() for state in states]

    def get_rng_state(self) -> torch.Tensor:
        return self.get_rng_state_all()[0]

    def set_rng_state(self, state: torch.Tensor) -> None:
        self.set_rng_state_all([state])


@pytest.fixture(params=["cuda", "xpu", "mps"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pretend(kind: str, num_devices: int, monkeypatch: pytest.MonkeyPatch) -> Pretended:
    backend = Pretended(num_devices)
    if kind == "mps":
        monkeypatch.setattr(torch.backends.mps, "is_available", backend.is_available)
        names = ["get_rng_state", "set_rng_state"]
    else:
        names = ["is_initialized", "device_count", "get_rng_state_all", "set_rng_state_all"]
    for name in names:
        monkeypatch.setattr(getattr(torch, kind), name, getattr(backend, name))
    return backend


def some(kind: str) -> int:
    return 1 if kind == "mps" else 3


def test_they_go_on_where_they_were(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = pretend(kind, some(kind), monkeypatch)
    backend.draw()
    states = random_states()
    wanted = [backend.draw() for _ in range(3)]

    assert restore_random_states(states) == []
    assert [backend.draw() for _ in range(3)] == wanted


@pytest.mark.parametrize("kind", ["xpu", "mps"])
def test_they_go_along_in_a_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = pretend(kind, some(kind), monkeypatch)
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        path = saver.save(1).wait(60).path
        wanted = backend.draw()
        saver.restore()

    assert backend.draw() == wanted
    assert kind in torch.load(path, weights_only=True)["rng"]


@pytest.mark.parametrize(
    ("kind", "num_here", "told"),
    [
        ("cuda", 2, "the generators of 3 GPUs were saved, and there are 2"),
        ("xpu", 2, "the generators of 3 XPUs were saved, and there are 2"),
        ("xpu", 0, "the generators of 3 XPUs were saved, and there are 0"),
        ("mps", 0, "the generator of MPS was saved, and there is no MPS here"),
    ],
)
def test_those_that_are_not_there_are_named(
    kind: str, num_here: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        pretend(kind, some(kind), before).draw()
        states = random_states()
    here = pretend(kind, num_here, monkeypatch)
    wanted = [state.tolist() for state in here.states]

    (left_out,) = restore_random_states(states)
    assert left_out.startswith(told)
    assert [state.tolist() for state in here.states] == wanted


@pytest.mark.parametrize("kind", ["cuda", "xpu"])
def test_devices_that_nobody_uses_are_left_alone(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(kind, 2, monkeypatch).is_used = False
    assert kind not in random_states()
