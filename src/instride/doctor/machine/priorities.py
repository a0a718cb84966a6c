"""Rules on priorities that do nothing: of the processor between groups, of the disk without a
scheduler that knows them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from instride.doctor.machine.activity import BUSY_BYTES_PER_S, BUSY_CORES, Activity, Sample
from instride.doctor.machine.landings import Landing
from instride.doctor.machine.programs import Trade
from instride.doctor.machine.rivals import MOST_NAMED, names, writing
from instride.doctor.model import Finding, Fix, FixKind, Reading
from instride.system.cgroups import PROC
from instride.system.disks import SYS, Disk, disks_of
from instride.system.scheduling import Parting, Position, parting, position_of, weight_of

LOW_NICE = 5
"""From here on, somebody meant a process to yield."""
YIELDS = 0.5
"""A group with this part of the other's weight does yield."""
IDLE_IO_CLASS = 3


def check_priorities(sample: Sample, proc: Path = PROC) -> Iterator[Finding]:
    """priority-does-nothing, against the training that runs, or else the terminal we are in."""
    reference = position_of(_reference(sample.processes), proc)
    useless = [
        (each, found)
        for each in sorted(sample.processes, key=lambda each: -each.cores)
        if _is_meant_to_yield(each) and (found := _stronger(each.pid, reference, proc))
    ]
    if not useless:
        return
    evidence = [
        reading
        for each, found in useless[:MOST_NAMED]
        for reading in (
            Reading(f"/proc/{each.pid}/stat", _priority(each)),
            Reading(found.file, found.value),
        )
    ]
    yield Finding(
        "priority-does-nothing",
        {"names": names([each for each, _ in useless]), "priority": _priority(useless[0][0])},
        (*evidence, _group_reading(reference)),
        fixes=tuple(
            Fix(FixKind.COMMAND, writing(found.lowered, found.file))
            for _, found in useless[:MOST_NAMED]
        ),
    )


def check_io_priorities(
    sample: Sample, landings: Sequence[Landing], sys: Path = SYS
) -> Iterator[Finding]:
    """ionice-does-nothing, where the disk that checkpoints are on knows no classes."""
    idle = [each for each in sample.processes if each.io_class == IDLE_IO_CLASS and _has_io(each)]
    disks = {disk.name: disk for landing in landings for disk in disks_of(landing.mount, sys)}
    for disk in disks.values():
        if idle and not disk.obeys_priorities:
            yield Finding(
                "ionice-does-nothing",
                {"names": names(idle), "disk": disk.name, "scheduler": disk.scheduler},
                (
                    Reading(f"ionice -p {idle[0].pid}", "idle"),
                    Reading(disk.scheduler_file, disk.scheduler),
                ),
                fixes=tuple(_switching(disk)),
            )


def _is_meant_to_yield(activity: Activity) -> bool:
    is_low = activity.nice >= LOW_NICE or activity.is_idle_class
    return is_low and (activity.cores >= BUSY_CORES or bool(activity.open_checkpoints))


def _has_io(activity: Activity) -> bool:
    is_busy = (activity.io_bytes_per_s or 0) >= BUSY_BYTES_PER_S
    return is_busy or bool(activity.open_checkpoints)


def _stronger(pid: int, reference: Position, proc: Path) -> Parting | None:
    """The group of a process, if its nice value does not count and the group's own is no lower."""
    own = position_of(pid, proc)
    found = parting(own, reference)
    if found is None or found.weight <= YIELDS * weight_of(reference, own):
        return None
    return found


def _priority(activity: Activity) -> str:
    return "SCHED_IDLE" if activity.is_idle_class else f"nice {activity.nice}"


def _reference(processes: Sequence[Activity]) -> int:
    trainers = [each for each in processes if each.trade is Trade.TRAINER and each.nice < LOW_NICE]
    busiest = max(trainers, key=lambda each: each.cores, default=None)
    return os.getpid() if busiest is None else busiest.pid


def _group_reading(position: Position) -> Reading:
    """What the processes are compared with."""
    if position.groups:
        return Reading(f"/proc/{position.pid}/cgroup", str(position.groups[-1]))
    own = position.autogroup
    value = "none" if own is None else f"/autogroup-{own.id} nice {own.nice}"
    return Reading(f"/proc/{position.pid}/autogroup", value)


def _switching(disk: Disk) -> Iterator[Fix]:
    for scheduler in ("bfq", "mq-deadline"):
        if scheduler in disk.offered:
            yield Fix(FixKind.COMMAND, writing(scheduler, disk.scheduler_file))
            return
