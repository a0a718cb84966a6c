"""Trainers to kill, and stores to hurt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.checks import copy_of
from tests.crash.zygote import Zygote


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """The process that trainers are forked from."""
    zygote = Zygote()
    yield zygote
    zygote.close()


@pytest.fixture(scope="session")
def _two_saved(zygote: Zygote, tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("two") / "store"
    training = zygote.start("train", store=store, steps=[1, 2])
    training.hear_all()
    assert training.wait() == 0
    return store


@pytest.fixture
def store(_two_saved: Path, tmp_path: Path) -> Path:
    """A store with the committed steps 1 and 2, which nobody owns."""
    return copy_of(_two_saved, tmp_path / "store")
