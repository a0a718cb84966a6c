"""Rules on processes that compete with training now."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from instride.doctor.machine.activity import Activity, Sample
from instride.doctor.machine.programs import Trade
from instride.doctor.machine.readings import percent, speed
from instride.doctor.model import Certainty, Finding, Fix, FixKind, Reading, Share
from instride.system.scheduling import parting, position_of

RIVALS = frozenset({Trade.COMPRESSOR, Trade.SYNCER, Trade.INDEXER})
MUCH_CPU_SHARE = 0.05
"""Of all processors, for a program that is known to be a rival."""
MUCH_CPU_SHARE_OF_ANY = 0.2
"""For any other one."""
LASTING_S = 20.0
"""What was started just now may be over in a moment; rivals by trade come back with every save."""
MUCH_IO_BYTES_PER_S = 20e6
MOST_NAMED = 3


def check_rivals(sample: Sample, num_cpus: int, homes: Sequence[Path]) -> Iterator[Finding]:
    """rival-process; homes are the folders whose own training is no rival."""
    known = [each for each in sample.processes if each.trade in RIVALS and _is_much(each, num_cpus)]
    others = [
        each
        for each in sample.processes
        if each.trade not in RIVALS
        and each.cores >= MUCH_CPU_SHARE_OF_ANY * num_cpus
        and each.age_s >= LASTING_S
        and not is_at_home(each, homes)
    ]
    for group, certainty in ((known, Certainty.SURE), (others, Certainty.PERHAPS)):
        if group:
            yield _competing(group, num_cpus, certainty)


def check_readers(sample: Sample, folder: Path) -> Iterator[Finding]:
    """rival-reads-checkpoints."""
    for trades, certainty in ((RIVALS, Certainty.SURE), ({Trade.OTHER}, Certainty.PERHAPS)):
        readers = [
            each
            for each in sample.processes
            if each.trade in trades
            and any(Path(path).is_relative_to(folder) for path in each.open_checkpoints)
        ]
        if readers:
            yield Finding(
                "rival-reads-checkpoints",
                {
                    "names": names(readers),
                    "file": readers[0].open_checkpoints[0],
                },
                tuple(
                    Reading(f"/proc/{each.pid}/fd", path)
                    for each in readers
                    for path in each.open_checkpoints[:1]
                ),
                certainty,
                (lowering(readers[0].pid),),
            )


def names(activities: Sequence[Activity]) -> str:
    """`zstd (4711), rclone (4712)`, the first few of them."""
    titles = [each.title for each in activities[:MOST_NAMED]]
    return ", ".join(titles) + (", ..." if len(activities) > MOST_NAMED else "")


def lowering(pid: int) -> Fix:
    """How a process is made to yield, by what counts for it on this system."""
    if sys.platform == "win32":
        text = f"powershell -Command \"(Get-Process -Id {pid}).PriorityClass = 'Idle'\""
    elif sys.platform == "darwin":
        text = f"taskpolicy -b -p {pid}"
    else:
        found = parting(position_of(pid), position_of(os.getpid()))
        text = f"renice -n 19 -p {pid}" if found is None else writing(found.lowered, found.file)
    return Fix(FixKind.COMMAND, text)


def writing(value: str, file: str) -> str:
    """A command that writes a setting, as root where only root may."""
    path = shlex.quote(file)
    if os.access(file, os.W_OK):
        return f"echo {value} > {path}"
    return f"echo {value} | sudo tee {path}"


def _is_much(activity: Activity, num_cpus: int) -> bool:
    io_bytes_per_s = activity.io_bytes_per_s or 0
    return activity.cores >= MUCH_CPU_SHARE * num_cpus or io_bytes_per_s >= MUCH_IO_BYTES_PER_S


def is_at_home(activity: Activity, homes: Sequence[Path]) -> bool:
    """It is the training that was asked about, and runs already."""
    if activity.folder is None:
        return False
    folder = Path(activity.folder)
    is_own = len(folder.parts) > 2 and folder != Path.home()
    return any(
        folder.is_relative_to(home) or (is_own and home.is_relative_to(folder)) for home in homes
    )


def _competing(rivals: Sequence[Activity], num_cpus: int, certainty: Certainty) -> Finding:
    worst_first = sorted(rivals, key=lambda each: -each.cores)
    cores = sum(each.cores for each in rivals)
    return Finding(
        "rival-process",
        {"names": names(worst_first), "share": Share(min(1.0, cores / num_cpus))},
        tuple(Reading(each.title, _doing(each)) for each in worst_first[:MOST_NAMED]),
        certainty,
        tuple(lowering(each.pid) for each in worst_first[:MOST_NAMED]),
    )


def _doing(activity: Activity) -> str:
    cpu = f"CPU {percent(activity.cores)}"
    return f"{cpu}, I/O {speed(activity.io_bytes_per_s)}" if activity.io_bytes_per_s else cpu
