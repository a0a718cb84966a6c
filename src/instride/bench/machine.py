"""The machine that a benchmark ran on."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from instride.bench.report import Machine
from instride.system.cores import usable_cores
from instride.system.mounts import mount_of


def machine(folder: str, device: str = "cpu") -> Machine:
    mount = mount_of(Path(folder).absolute())
    return Machine(
        cores=usable_cores(),
        cpu=_cpu(),
        memory_bytes=psutil.virtual_memory().total,
        filesystem=mount.type if mount else "unknown",
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        torch=_version("torch"),
        load=os.getloadavg()[0],
        gpu=_gpu(device),
    )


def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and (found := re.search(r"model name\s*: (.+)", cpuinfo.read_text())):
        return found[1]
    return platform.processor() or platform.machine()


def _gpu(device: str) -> str | None:
    if device == "cpu":
        return None
    for file in Path("/proc/driver/nvidia/gpus").glob("*/information"):
        if found := re.search(r"Model:\s*(.+)", file.read_text(encoding="utf-8")):
            return found[1].strip()
    return "a GPU of unknown kind"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
