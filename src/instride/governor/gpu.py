"""How busy the GPUs are, where the driver's library is there to ask."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from instride.governor.model import Step

LOOK_S = 1.0
"""The driver averages over about as long."""
BUSY = 0.05
"""From here on a GPU computes."""


DRIVER = Path("/proc/driver/nvidia/gpus")


def is_unseen(driver: Path = DRIVER) -> bool:
    """Whether there is a GPU with its driver, and no library to ask that."""
    return driver.is_dir() and find_spec("pynvml") is None


class Busyness(Protocol):
    def busiest(self) -> float | None:
        """The share of the last moment in which the busiest GPU computed; None: no telling."""
        ...


class GpuGauge:
    def __init__(self) -> None:
        self._nvml: Any = None
        self._handles: list[Any] = []
        try:
            import pynvml
        except ImportError:
            return
        try:
            pynvml.nvmlInit()
            self._handles = [
                pynvml.nvmlDeviceGetHandleByIndex(index)
                for index in range(pynvml.nvmlDeviceGetCount())
            ]
        except pynvml.NVMLError:  # a library without a driver
            return
        self._nvml = pynvml

    def busiest(self) -> float | None:
        """The share of the last moment in which the busiest GPU computed; None: no telling."""
        shares = []
        for handle in self._handles:
            try:
                shares.append(self._nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100)
            except self._nvml.NVMLError:  # a slice of a GPU does not say
                continue
        return max(shares, default=None)


class GpuSteps:
    """Seconds of a GPU in place of steps, where nobody tells of any.

    One that computes for half as much of the time takes twice as long for everything: work that
    keeps a training from feeding its GPU shows in it, as step times would show it.
    """

    resolution_s = LOOK_S / 4

    def __init__(self, gpu: Busyness) -> None:
        self._gpu = gpu
        self._looked_s: float | None = None

    def read(self, now_s: float) -> list[Step]:
        if self._looked_s is not None and now_s - self._looked_s < LOOK_S:
            return []
        span_s = LOOK_S if self._looked_s is None else now_s - self._looked_s
        self._looked_s = now_s
        share = self._gpu.busiest()
        if share is None or share < BUSY or span_s > 2 * LOOK_S:
            return []
        return [Step(now_s, LOOK_S / share, span_s)]
