"""One kernel that brings many storages together in one stretch of a device's memory.

torch can copy many tensors in one call too, but wants a tensor for every place: to make a thousand
of them takes longer than all else that a save does. A table of addresses is made once instead.
The kernel comes as the driver's own language, which any driver turns into what its device runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch

KERNEL = Path(__file__).with_name("gather.ptx")
NAME = b"gather"
DRIVER = "libcuda.so.1"
CHUNK_BYTES = 1 << 18
"""What a group of threads copies before it looks for more to do."""
NUM_THREADS = 512
GROUPS_A_PROCESSOR = 4


class Move(NamedTuple):
    """Bytes at an address of the device that belong to a place in the memory."""

    address: int
    place: int
    num_bytes: int


class Moves:
    """What is to be brought together, as a table on the device. Made on a stream that is then
    waited for, so that any other may use it."""

    def __init__(self, moves: Sequence[Move], stream: torch.cuda.Stream) -> None:
        self.num_chunks = 0
        rows = []
        for move in moves:
            rows.append([*move, self.num_chunks])
            self.num_chunks += -(-move.num_bytes // CHUNK_BYTES)
        # Without the device, the stream that was current before is set together with its own, which
        # in a thread is the first one, and makes a context there.
        with torch.cuda.device(stream.device), torch.cuda.stream(stream):
            self.table = torch.tensor(rows, dtype=torch.int64).to(stream.device)
        stream.synchronize()

    def change(self, number: int, address: int) -> None:
        """From where one of them is brought from here on, in the order of the current stream."""
        self.table[number, 0].fill_(address)
        # Also where no copy follows: what is let go of before this is done would be changed by it.
        self.table.record_stream(torch.cuda.current_stream(self.table.device))


class Gatherer:
    """The kernel, loaded on one device. Raises OSError where that cannot be done."""

    def __init__(self, device: torch.device) -> None:
        self._driver = ctypes.CDLL(DRIVER)
        module = ctypes.c_void_p()
        self._function = ctypes.c_void_p()
        with torch.cuda.device(device):
            torch.cuda.Stream().query()  # a thread that has called nothing yet has no context
            code = KERNEL.read_bytes()
            _check(self._driver.cuModuleLoadData(ctypes.byref(module), code))
            _check(self._driver.cuModuleGetFunction(ctypes.byref(self._function), module, NAME))
        processors = torch.cuda.get_device_properties(device).multi_processor_count
        self._num_groups = GROUPS_A_PROCESSOR * processors

    def gather(self, moves: Moves, memory: torch.Tensor) -> None:
        """On the current stream, in one launch."""
        values = (
            ctypes.c_void_p(moves.table.data_ptr()),
            ctypes.c_void_p(memory.data_ptr()),
            ctypes.c_int(len(moves.table)),
            ctypes.c_int(moves.num_chunks),
            ctypes.c_int(CHUNK_BYTES),
        )
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        grid = (min(self._num_groups, moves.num_chunks), 1, 1)
        block = (NUM_THREADS, 1, 1)
        _check(self._driver.cuLaunchKernel(self._function, *grid, *block, 0, stream, places, None))


def _check(code: int) -> None:
    if code != 0:
        raise OSError(f"the driver of the GPU refuses a kernel with error {code}")


@cache
def gatherer_for(device: torch.device) -> Gatherer | None:
    """None where the driver does not take the kernel. Tens of milliseconds: not in a call."""
    try:
        return Gatherer(device)
    except OSError:
        return None
