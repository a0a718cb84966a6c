"""Every generator goes on where it was, whichever NumPy draws from."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import instride

pytestmark = pytest.mark.torch

LEGACY: Any = numpy.random  # its types lack what sets the generator
KINDS = [
    numpy.random.MT19937,
    numpy.random.PCG64,
    numpy.random.PCG64DXSM,
    numpy.random.Philox,
    numpy.random.SFC64,
]


@pytest.fixture(autouse=True)
def its_own_generator() -> Iterator[None]:
    before = LEGACY.get_bit_generator()
    yield
    LEGACY.set_bit_generator(before)


def draws() -> list[float]:
    return [
        random.random(),
        random.gauss(0, 1),
        float(torch.rand(())),
        float(numpy.random.rand()),
        float(numpy.random.standard_normal()),
        float(numpy.random.randint(1000)),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_generators_go_on_where_they_were(
    kind: type[numpy.random.BitGenerator], tmp_path: Path
) -> None:
    LEGACY.set_bit_generator(kind(3))
    model = torch.nn.Linear(2, 2)
    with instride.Saver(tmp_path, model=model) as saver:
        draws()
        path = saver.save(1).wait(60).path
        wanted = [draws() for _ in range(3)]
        saver.restore()

        assert [draws() for _ in range(3)] == wanted
    torch.load(path, weights_only=True)


def test_another_generator_than_the_one_that_was_saved_is_left_alone_and_said(
    tmp_path: Path,
) -> None:
    model = torch.nn.Linear(2, 2)
    LEGACY.set_bit_generator(numpy.random.PCG64(3))
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1).wait(60)
        LEGACY.set_bit_generator(numpy.random.MT19937(3))
        wanted = numpy.random.get_state(legacy=False)["state"]["key"].tolist()

        with pytest.warns(RuntimeWarning, match="draws from MT19937 and drew from PCG64"):
            saver.restore()

    assert numpy.random.get_state(legacy=False)["state"]["key"].tolist() == wanted
