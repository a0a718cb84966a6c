"""All that is said of processes, of memory and of GPUs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil

from instride.doctor.machine.activity import Sample
from instride.doctor.machine.disks import Disks, Said
from instride.doctor.machine.gpu_rules import check_gpu
from instride.doctor.machine.landings import Landing, SilentError, answer_of
from instride.doctor.machine.memory import read_dirty_limits, read_shm_bytes, read_swap
from instride.doctor.machine.memory_rules import (
    check_dirty_limits,
    check_shm,
    check_snapshot,
    check_swap,
    check_swapping,
)
from instride.doctor.machine.nvml import has_driver, read_gpus
from instride.doctor.machine.priorities import check_io_priorities, check_priorities
from instride.doctor.machine.rivals import check_readers, check_rivals, is_at_home
from instride.doctor.model import Count, Unknown
from instride.system import cgroups, psi
from instride.system.filesystems import Kind, kind_of
from instride.system.mounts import mount_of

_GPU_PATIENCE_S = 1.5
"""A driver that is stuck must not hold the rest up."""


def say_processes(
    sample: Sample, landings: list[Landing], folders: list[Path], homes: list[Path]
) -> Iterator[Said]:
    """Rivals and priorities; homes are the folders whose own training is no rival."""
    yield from check_rivals(sample, os.cpu_count() or 1, homes)
    for folder in folders:
        yield from check_readers(sample, folder)
    if psutil.LINUX:
        yield from check_priorities(sample)
        yield from check_io_priorities(sample, landings)
    if sample.num_hidden:
        yield _hidden(Count(sample.num_hidden), is_root=os.geteuid() == 0)
    if folders and not psutil.LINUX:
        yield Unknown("open-files")


def _hidden(processes: Count, is_root: bool) -> Unknown:
    if is_root:
        return Unknown("hidden-from-root", {"processes": processes})
    return Unknown("hidden-processes", {"processes": processes})


def say_memory(sample: Sample, disks: Disks) -> Iterator[Said]:
    available_bytes = psutil.virtual_memory().available
    yield from check_snapshot(disks.landings, available_bytes, cgroups.memory_levels())
    if not psutil.LINUX:
        yield Unknown("swapping")
        return
    pressure = psi.read("memory")
    if pressure is None:
        yield Unknown("pressure")
    if sample.swapped is not None:
        yield from check_swapping(*sample.swapped, sample.seconds, pressure)
    yield from check_swap(read_swap())
    shm_bytes = read_shm_bytes()
    if shm_bytes is not None:
        yield from check_shm(shm_bytes, _is_container())
    limits = read_dirty_limits(available_bytes)
    slowest = min(disks.speeds.items(), key=lambda item: item[1], default=None)
    if limits is not None and slowest is not None:
        yield from check_dirty_limits(limits, *slowest)


def say_gpus(sample: Sample, homes: list[Path]) -> Iterator[Said]:
    try:
        gpus = answer_of(read_gpus, _GPU_PATIENCE_S)
    except SilentError:
        yield Unknown("silent-gpu")
        return
    if gpus is None and has_driver():
        yield Unknown("gpu-library")
    own_pids = {each.pid for each in sample.processes if is_at_home(each, homes)}
    for gpu in gpus or []:
        yield from check_gpu(gpu, own_pids)


def _is_container() -> bool:
    mount = mount_of("/")
    return mount is not None and kind_of(mount) is Kind.LAYER
