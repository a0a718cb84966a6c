"""Generators that a script has made for itself, as samplers do. They have no `state_dict()`, so
that they are no parts; where they are goes along in a part, or beside the parts. CI has the host's.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import instride
from tests.gpu.trainings import NEEDS_A_GPU

DEVICES = [
    pytest.param("cpu", marks=pytest.mark.torch),
    pytest.param("cuda", marks=NEEDS_A_GPU),
]


class Sampler:
    """Draws with a generator of its own."""

    def __init__(self, device: str) -> None:
        self.generator = torch.Generator(device)
        self.generator.manual_seed(7)
        self._device = device

    def draw(self) -> torch.Tensor:
        return torch.randn(1001, device=self._device, generator=self.generator)

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {"generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        self.generator.set_state(state["generator"])


@pytest.mark.parametrize("device", DEVICES)
def test_one_in_a_part_goes_on_where_it_was(device: str, tmp_path: Path) -> None:
    sampler = Sampler(device)
    sampler.draw()
    with instride.Saver(tmp_path, sampler=sampler) as saver:
        pending = saver.save(1)
        wanted = [sampler.draw() for _ in range(3)]  # none of it is in the file
        pending.wait(60)

    again = Sampler(device)
    with instride.Saver(tmp_path, sampler=again) as saver:
        assert saver.restore() == 2

    assert all(torch.equal(again.draw(), each) for each in wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_one_beside_the_parts_goes_on_where_it_was(device: str, tmp_path: Path) -> None:
    sampler, model = Sampler(device), torch.nn.Linear(3, 3, device=device)
    sampler.draw()
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1, extra={"drawn": sampler.generator.get_state()}).wait(60)
        wanted = [sampler.draw() for _ in range(3)]
        saver.restore()
        sampler.generator.set_state(saver.extra["drawn"])

    assert all(torch.equal(sampler.draw(), each) for each in wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_one_that_is_given_as_a_part_is_refused_by_name(device: str, tmp_path: Path) -> None:
    why = r"`mine` is of type `Generator`, without `state_dict\(\)`.*extra=\{'mine': \.\.\.\}"
    with pytest.raises(TypeError, match=why):
        instride.Saver(tmp_path, mine=torch.Generator(device))
