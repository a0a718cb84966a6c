"""What is known of memory that other streams were seen to use."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from instride.snapshot.seen import FEWEST_LOOKED_THROUGH, Seen

pytestmark = pytest.mark.torch


class FailedStream:
    def query(self) -> bool:
        raise RuntimeError("CUDA error: device-side assert triggered")


class SoundStream:
    def query(self) -> bool:
        return False


def free_after_all(storage: StorageWeakRef) -> None:
    """Take back the one reference too many."""
    again = torch.UntypedStorage._new_with_weak_ptr(storage.cdata)
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(again))


def test_it_keeps_nothing_alive() -> None:
    seen = Seen()
    tensor = torch.ones(3)
    storage = StorageWeakRef(tensor.untyped_storage())
    seen.add([tensor])
    seen.add([tensor])
    assert len(seen) == 1
    del tensor
    assert storage.expired()
    seen.never_free()


@pytest.mark.parametrize("way", ["never_free", "never_free_in_child"])
def test_what_is_there_then_stays_and_what_comes_later_goes(way: str) -> None:
    seen = Seen()
    tensors = [torch.ones(3), torch.ones(4)]
    storages = [StorageWeakRef(each.untyped_storage()) for each in tensors]
    seen.add(tensors[:1])
    getattr(seen, way)()
    seen.add(tensors[1:])
    tensors.clear()
    assert [each.expired() for each in storages] == [False, True]
    free_after_all(storages[0])
    assert storages[0].expired()


@pytest.mark.parametrize("stream", [SoundStream, FailedStream])
def test_it_asks_the_streams_whether_a_gpu_has_failed(stream: Any) -> None:
    seen = Seen()
    tensor = torch.ones(3)
    storage = StorageWeakRef(tensor.untyped_storage())
    seen.add([tensor])
    seen.never_free_if_failed([SoundStream(), stream()])
    del tensor
    assert storage.expired() == (stream is SoundStream)
    if not storage.expired():
        free_after_all(storage)


def test_what_is_gone_is_forgotten_once_much_of_it_is() -> None:
    seen = Seen()
    kept = [torch.ones(3) for _ in range(5)]
    seen.add(kept)
    for _ in range(3 * FEWEST_LOOKED_THROUGH):
        seen.add([torch.ones(1)])
        assert len(seen) <= FEWEST_LOOKED_THROUGH
    tensors = [StorageWeakRef(each.untyped_storage()) for each in kept]
    seen.never_free()
    kept.clear()
    assert not any(each.expired() for each in tensors)
    for each in tensors:
        free_after_all(each)
