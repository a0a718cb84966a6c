"""From a request to what the machine says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from instride.doctor.machine.activity import NOTHING_SEEN, take_sample
from instride.doctor.machine.disks import Disks, Said
from instride.doctor.machine.parts import say_gpus, say_memory, say_processes
from instride.doctor.model import Finding, Unknown
from instride.doctor.request import Request

LONGEST_S = 5.0
PROBES_S = 4.0
RESERVE_S = 1.0
"""Kept back from the probes, for a sync that takes its time."""
PROCESSES = (
    "rival-reads-checkpoints",
    "rival-process",
    "priority-does-nothing",
    "ionice-does-nothing",
)
GPUS = ("gpu-throttled", "gpu-shared", "gpu-link-narrow", "gpu-memory-full")
MEMORY = (
    "swapping-now",
    "memory-short",
    "snapshot-does-not-fit",
    "small-shm",
    "swap-in-use",
    "dirty-limits",
)
SAMPLED = (*PROCESSES, *GPUS, *MEMORY)
"""If none of them is wanted, nobody waits for processes to do something."""
DISKS = (
    "little-space",
    "disk-nearly-full",
    "few-inodes",
    "quota-near",
    "checkpoints-not-writable",
    "volatile-checkpoints",
    "container-checkpoints",
    "faster-disk-nearby",
    "slow-checkpoint-disk",
    "remote-checkpoint-disk",
    "dirty-limits",
)


def examine_machine(
    request: Request, longest_s: float = LONGEST_S
) -> tuple[list[Finding], list[Unknown]]:
    """What is wrong with the machine, and what it does not tell, within so many seconds."""
    end = time.monotonic() + longest_s
    disks = Disks(request)
    folders = [landing.path.expanduser().resolve() for landing in disks.landings]
    homes = [*folders, *([] if request.repo is None else [request.repo.resolve()])]
    sample = take_sample(folders) if any(map(request.wants, SAMPLED)) else NOTHING_SEEN
    parts: list[tuple[tuple[str, ...], Callable[[], Iterator[Said]]]] = [
        (PROCESSES, lambda: say_processes(sample, disks.landings, folders, homes)),
        (GPUS, lambda: say_gpus(sample, homes)),
        (DISKS, lambda: disks.check(min(PROBES_S, end - time.monotonic() - RESERVE_S))),
        (MEMORY, lambda: say_memory(sample, disks)),
    ]
    said = [
        each
        for rules, part in parts
        if any(map(request.wants, rules))
        for each in _guarded(part, rules)
    ]
    findings = [each for each in said if isinstance(each, Finding) and request.wants(each.rule)]
    return findings, [each for each in said if isinstance(each, Unknown)]


def _guarded(part: Callable[[], Iterator[Said]], rules: tuple[str, ...]) -> Iterator[Said]:
    """What goes wrong in one part is said, and costs the others nothing."""
    try:
        yield from part()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        yield Unknown("rule-failed", {"rule": ", ".join(rules), "error": why})
