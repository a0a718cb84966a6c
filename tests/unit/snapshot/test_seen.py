"""What is known of memory that other streams were seen to use."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from instride.snapshot.seen import FEWEST_LOOKED_THROUGH, Seen

pytestmark = pytest.mark.torch


class Asked:
    """What a thread says before it asks a stream: that others may capture, and of which device it
    speaks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.device: torch.device | None = None
        self.lets_capture = False
        monkeypatch.setattr(torch.cuda, "device", self.speaking_of)
        monkeypatch.setattr(
            "instride.snapshot.seen.letting_others_capture", self.letting_others_capture
        )

    @contextmanager
    def speaking_of(self, device: torch.device) -> Iterator[None]:
        self.device = device
        yield
        self.device = None

    @contextmanager
    def letting_others_capture(self) -> Iterator[None]:
        assert self.device is not None, "it makes a context on the current one"
        self.lets_capture = True
        yield
        self.lets_capture = False


class SoundStream:
    def __init__(self, asked: Asked, number: int) -> None:
        self.asked = asked
        self.device = torch.device("cuda", number)

    def query(self) -> bool:
        assert self.asked.lets_capture, "a capture of another thread would end"
        assert self.asked.device == self.device
        return False


class FailedStream(SoundStream):
    def query(self) -> bool:
        raise RuntimeError("CUDA error: device-side assert triggered")


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


def test_what_is_there_then_stays_and_what_comes_later_goes() -> None:
    seen = Seen()
    tensors = [torch.ones(3), torch.ones(4)]
    storages = [StorageWeakRef(each.untyped_storage()) for each in tensors]
    seen.add(tensors[:1])
    seen.never_free()
    seen.add(tensors[1:])
    tensors.clear()
    assert [each.expired() for each in storages] == [False, True]
    free_after_all(storages[0])
    assert storages[0].expired()


FORKING = """
import os, threading, torch
from torch.multiprocessing.reductions import StorageWeakRef
from instride.snapshot.seen import seen

mine, storages, is_there, is_over = [torch.ones(3)], [], threading.Event(), threading.Event()

def work():
    here.theirs = torch.ones(4)
    seen.add([here.theirs])
    storages.append(StorageWeakRef(here.theirs.untyped_storage()))
    is_there.set()
    is_over.wait()

here = threading.local()
thread = threading.Thread(target=work)
thread.start()
is_there.wait()
seen.add(mine)
storages.append(StorageWeakRef(mine[0].untyped_storage()))
child = os.fork()
mine.clear()
if child == 0:
    os._exit(any(each.expired() for each in storages))
_, status = os.waitpid(child, 0)
is_over.set()
thread.join()
print(os.waitstatus_to_exitcode(status), all(each.expired() for each in storages))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_frees_nothing_not_even_what_a_thread_of_the_parent_had() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["0", "True"], "freed by the parent, and by nobody else"


def test_a_handler_may_add_while_what_is_gone_is_forgotten(monkeypatch: Any) -> None:
    seen = Seen()
    kept = [torch.ones(1) for _ in range(3)]
    seen.add([*kept[:2], torch.ones(1)])
    expired = StorageWeakRef.expired

    def interrupted(known: StorageWeakRef) -> bool:
        monkeypatch.setattr(StorageWeakRef, "expired", expired)
        seen.add(kept[2:])
        return bool(known.expired())

    monkeypatch.setattr(StorageWeakRef, "expired", interrupted)
    monkeypatch.setattr(seen, "_most", 0)
    seen.add([])
    assert len(seen) == len(kept)


@pytest.mark.parametrize("stream", [SoundStream, FailedStream])
def test_it_asks_the_streams_whether_a_gpu_has_failed(
    stream: type[SoundStream], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    streams: Any = [SoundStream(asked, 1), stream(asked, 3)]
    seen = Seen()
    tensor = torch.ones(3)
    storage = StorageWeakRef(tensor.untyped_storage())
    seen.add([tensor])
    seen.never_free_if_failed(streams)
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
