"""Rules on GPUs: slowed down, shared, badly plugged in, nearly full."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from instride.doctor.machine.nvml import Gpu
from instride.doctor.machine.readings import size
from instride.doctor.model import Bytes, Certainty, Count, Finding, Fix, FixKind, Reading

LOW_POWER = 0.8
"""A limit below this part of the default costs clocks."""
FULL_SHARE = 0.1
_SHOW_LINK = "--query-gpu=pcie.link.width.current,pcie.link.width.max --format=csv"


def check_gpu(gpu: Gpu, own_pids: Collection[int]) -> Iterator[Finding]:
    """All four rules for one GPU; own are the processes of the training that was asked about."""
    yield from _throttled(gpu)
    yield from _shared(gpu, own_pids)
    yield from _narrow(gpu)
    yield from _full(gpu, own_pids)


def _throttled(gpu: Gpu) -> Iterator[Finding]:
    if gpu.slowdowns:
        reason = ", ".join(gpu.slowdowns)
        yield Finding(
            "gpu-throttled",
            {"gpu": gpu.title, "reason": reason},
            (Reading("clocks event reasons", reason),),
            fixes=(_showing(gpu, "PERFORMANCE,TEMPERATURE,POWER"),),
        )
    elif _is_limited(gpu):
        reason = f"{gpu.power_limit_w:.0f} W / {gpu.default_power_limit_w:.0f} W"
        raise_it = f"sudo nvidia-smi -i {gpu.index} -pl {gpu.default_power_limit_w:.0f}"
        yield Finding(
            "gpu-throttled",
            {"gpu": gpu.title, "reason": reason},
            (Reading("enforced power limit / default", reason),),
            Certainty.LIKELY,
            (Fix(FixKind.COMMAND, raise_it),),
        )


def _is_limited(gpu: Gpu) -> bool:
    limit, default = gpu.power_limit_w, gpu.default_power_limit_w
    return limit is not None and default is not None and limit < LOW_POWER * default


def _shared(gpu: Gpu, own_pids: Collection[int]) -> Iterator[Finding]:
    """One process may be the training itself, where its number tells nothing."""
    others = [pid for pid in gpu.pids if pid not in own_pids]
    if others:
        certainty = Certainty.LIKELY if own_pids or len(others) > 1 else Certainty.PERHAPS
        yield Finding(
            "gpu-shared",
            {"gpu": gpu.title, "processes": Count(len(others))},
            tuple(Reading(f"process on {gpu.title}", str(pid)) for pid in others),
            certainty,
            (_showing(gpu, "PIDS"),),
        )


def _narrow(gpu: Gpu) -> Iterator[Finding]:
    width, widest = gpu.link_width, gpu.link_width_max
    if width and widest and width < widest:
        yield Finding(
            "gpu-link-narrow",
            {"gpu": gpu.title, "lanes": Count(width), "possible": Count(widest)},
            (Reading("PCIe link width", f"{width} of {widest}"),),
            Certainty.LIKELY,
            (Fix(FixKind.COMMAND, f"nvidia-smi -i {gpu.index} {_SHOW_LINK}"),),
        )


def _full(gpu: Gpu, own_pids: Collection[int]) -> Iterator[Finding]:
    free, total = gpu.memory_free_bytes, gpu.memory_total_bytes
    if free is None or not total or free >= FULL_SHARE * total:
        return
    is_own = any(pid in own_pids for pid in gpu.pids)
    if not is_own:
        yield Finding(
            "gpu-memory-full",
            {"gpu": gpu.title, "free": Bytes(free), "total": Bytes(total)},
            (Reading("memory of the GPU", f"{size(free)} free of {size(total)}"),),
            Certainty.LIKELY,
            (_showing(gpu, "PIDS,MEMORY"),),
        )


def _showing(gpu: Gpu, what: str) -> Fix:
    return Fix(FixKind.COMMAND, f"nvidia-smi -q -i {gpu.index} -d {what}")
