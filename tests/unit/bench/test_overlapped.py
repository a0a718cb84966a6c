"""The rival that stages beside the steps: its loop waits for that before anything is changed."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.distributed.checkpoint as dcp  # noqa: E402 - needs torch

from instride.bench.training import Training  # noqa: E402
from instride.bench.ways.dcp import DcpOverlapped, DcpSave  # noqa: E402

pytestmark = pytest.mark.torch


class Stager:
    def __init__(self) -> None:
        self.is_over = False

    def end(self) -> None:
        self.is_over = True


class Dcp:
    """`dcp.async_save` that has done nothing yet when it returns."""

    def __init__(self) -> None:
        self.staging: Future[None] = Future()
        self.upload: Future[None] = Future()
        self.stagers: list[Stager] = []

    def async_save(self, state: Any, *, async_stager: Stager, **others: Any) -> Any:
        self.stagers.append(async_stager)
        return SimpleNamespace(staging_completion=self.staging, upload_completion=self.upload)


class Waiting(DcpOverlapped):
    """Without processes, and with a stager that needs no GPU."""

    def _make_stager(self) -> Any:
        return Stager()


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> Dcp:
    made = Dcp()
    monkeypatch.setattr(dcp, "async_save", made.async_save)
    monkeypatch.setattr(DcpSave, "__init__", _without_a_group)
    return made


def _without_a_group(way: DcpSave, training: Training, folder: Path) -> None:
    way._training, way._folder = training, folder


def test_an_optimizer_waits_until_all_is_staged_and_not_until_it_is_written(
    faked: Dcp, tmp_path: Path
) -> None:
    way = Waiting(Training(1), tmp_path)
    with way.guard():
        pass  # nothing was saved: nobody waits
    ticket = way.save(1)
    staging = threading.Timer(0.05, faked.staging.set_result, [None])
    staging.start()
    with way.guard():
        assert faked.staging.done()
    staging.join()
    assert not ticket.is_done()
    faked.upload.set_result(None)
    assert ticket.is_done()


def test_what_went_wrong_while_it_was_staged_is_not_trained_over(
    faked: Dcp, tmp_path: Path
) -> None:
    way = Waiting(Training(1), tmp_path)
    way.save(1)
    faked.staging.set_exception(OSError("no shared memory is left"))
    with pytest.raises(OSError, match="no shared memory"), way.guard():
        pytest.fail("it was changed")


def test_one_stager_is_there_for_all_saves_and_ends_with_the_way(
    faked: Dcp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DcpSave, "close", lambda way: None)
    way = Waiting(Training(1), tmp_path)
    way.save(1)
    way.save(2)
    first, second = faked.stagers
    assert first is second
    assert not first.is_over
    way.close()
    assert first.is_over
