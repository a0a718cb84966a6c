"""Ways of saving by their names: what people use today, and instride."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from instride.bench.training import Training
from instride.bench.ways.contract import NoSaving, Way
from instride.bench.ways.dcp import DcpAsync, DcpOverlapped, DcpPinned, DcpProcess, DcpSave
from instride.bench.ways.others import LightningAsync, TorchCheckpointing, TorchSave
from instride.bench.ways.ours import Instride, InstrideAtOnce, InstrideWithoutRoom
from instride.bench.ways.pausing import Pause

WAYS: dict[str, Callable[[Training, Path], Way]] = {
    "none": NoSaving,
    "none again": NoSaving,
    "none with a pause": Pause,
    "torch.save": TorchSave,
    "dcp.save": DcpSave,
    "dcp.async_save": DcpAsync,
    "dcp.async_save process": DcpProcess,
    "dcp.async_save pinned": DcpPinned,
    "dcp.async_save overlapped": DcpOverlapped,
    "torch_checkpointing": TorchCheckpointing,
    "lightning": LightningAsync,
    "instride": Instride,
    "instride at once": InstrideAtOnce,
    "instride full GPU": InstrideWithoutRoom,
}
