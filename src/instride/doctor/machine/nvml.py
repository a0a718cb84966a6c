"""What the NVIDIA driver knows of its GPUs, through its own library, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

DEVICES = Path("/proc/driver/nvidia/gpus")
_Value = TypeVar("_Value")
SLOWDOWNS = {
    0x08: "HwSlowdown",
    0x20: "SwThermalSlowdown",
    0x40: "HwThermalSlowdown",
    0x80: "HwPowerBrakeSlowdown",
}
"""Reasons for low clocks that are no choice of the user's, as the driver calls them.

Being idle and staying within the power limit are ordinary.
"""


class Gpu(msgspec.Struct, frozen=True):
    """Values are None where this GPU or driver does not tell."""

    index: int
    name: str
    slowdowns: tuple[str, ...]
    power_limit_w: float | None
    default_power_limit_w: float | None
    pids: tuple[int, ...]
    """Processes that compute on it; numbers may be those of the host."""
    memory_free_bytes: int | None
    memory_total_bytes: int | None
    link_width: int | None
    link_width_max: int | None

    @property
    def title(self) -> str:
        return f"GPU {self.index} ({self.name})"


def has_driver(devices: Path = DEVICES) -> bool:
    """Linux has a GPU with its driver loaded, whether or not there is a library to ask."""
    try:
        return any(devices.iterdir())
    except OSError:
        return False


def read_gpus() -> list[Gpu] | None:
    """None without the library `nvidia-ml-py`; an empty list without a driver."""
    try:
        import pynvml
    except ImportError:
        return None
    with _opened(pynvml) as is_open:
        if not is_open:
            return []
        count = _ask(pynvml, pynvml.nvmlDeviceGetCount) or 0
        found = (_read(pynvml, index) for index in range(count))
        return [gpu for gpu in found if gpu is not None]


@contextmanager
def _opened(nvml: Any) -> Iterator[bool]:
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        yield False
        return
    try:
        yield True
    finally:
        nvml.nvmlShutdown()


def _ask(nvml: Any, question: Callable[..., _Value], *arguments: Any) -> _Value | None:
    try:
        return question(*arguments)
    except nvml.NVMLError:  # not supported by this GPU, or not allowed in this container
        return None


def _read(nvml: Any, index: int) -> Gpu | None:
    handle = _ask(nvml, nvml.nvmlDeviceGetHandleByIndex, index)
    if handle is None:
        return None
    name = _ask(nvml, nvml.nvmlDeviceGetName, handle)
    memory = _ask(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    reasons = _ask(nvml, nvml.nvmlDeviceGetCurrentClocksEventReasons, handle) or 0
    limit_mw = _ask(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
    default_mw = _ask(nvml, nvml.nvmlDeviceGetPowerManagementDefaultLimit, handle)
    running = _ask(nvml, nvml.nvmlDeviceGetComputeRunningProcesses, handle) or []
    return Gpu(
        index=index,
        name=name.decode() if isinstance(name, bytes) else str(name),
        slowdowns=tuple(text for bit, text in SLOWDOWNS.items() if reasons & bit),
        power_limit_w=None if limit_mw is None else limit_mw / 1000,
        default_power_limit_w=None if default_mw is None else default_mw / 1000,
        pids=tuple(process.pid for process in running),
        memory_free_bytes=None if memory is None else int(memory.free),
        memory_total_bytes=None if memory is None else int(memory.total),
        link_width=_ask(nvml, nvml.nvmlDeviceGetCurrPcieLinkWidth, handle),
        link_width_max=_ask(nvml, nvml.nvmlDeviceGetMaxPcieLinkWidth, handle),
    )
