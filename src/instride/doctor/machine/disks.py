"""All that is said of the directories that checkpoints land in, in the order of what it takes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from instride.doctor.machine.alternatives import alternative_to, local_disks
from instride.doctor.machine.disk_rules import check_speed
from instride.doctor.machine.landing_rules import (
    NEVER_LOCAL,
    check_lasting,
    check_remote,
    check_writable,
    mount_reading,
    not_writable,
)
from instride.doctor.machine.landings import PATIENCE_S, Landing, SilentError, look_at, one_a_mount
from instride.doctor.machine.probing import SPARE_BYTES, Probed, probe
from instride.doctor.machine.space import check_inodes, check_quota, check_space
from instride.doctor.model import Finding, Reading, Unknown
from instride.doctor.request import Request
from instride.reasons import Reason

PROBED_RULES = (
    "slow-checkpoint-disk",
    "faster-disk-nearby",
    "remote-checkpoint-disk",
    "dirty-limits",
    "checkpoints-not-writable",
)
"""If none of them is wanted, nothing is written."""
SIZED_RULES = ("little-space", "snapshot-does-not-fit")
LEAST_S = 0.3
"""Less time than that measures nothing."""
Said = Finding | Unknown


class Disks:
    """The landings of a request, with their alternatives and what was measured."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._said: list[Said] = []
        self._patience_end = time.monotonic() + PATIENCE_S
        self.landings = [each for each in map(self._look, request.checkpoints) if each is not None]
        self.speeds: dict[Path, float] = {}
        """Written and synced, by the path of the landing."""

    def _look(self, path: Path) -> Landing | None:
        facts = {"path": str(path)}
        try:
            landing = look_at(path, max(LEAST_S, self._patience_end - time.monotonic()))
        except SilentError:
            self._said.append(Unknown("silent-filesystem", {**facts}))
            return None
        except PermissionError as error:
            reading = Reading(error.filename or str(path), error.strerror or str(error))
            self._said.append(not_writable(path, Reason.of(error), reading))
            return None
        except OSError as error:
            self._said.append(Unknown("unreadable-path", {**facts, "error": Reason.of(error)}))
            return None
        if landing is None:
            self._said.append(Unknown("unknown-filesystem", {**facts}))
        return landing

    def check(self, longest_s: float) -> Iterator[Said]:
        """What is the matter; probes take no longer than they are given."""
        yield from self._said
        refused = {
            landing.path: found for landing in self.landings for found in check_writable(landing)
        }
        yield from refused.values()
        chosen = one_a_mount(self.landings)
        end = time.monotonic() + longest_s
        disks = local_disks(self._request.repo)
        for index, landing in enumerate(chosen):
            alternative = alternative_to(landing, disks)
            yield from check_lasting(landing, alternative)
            yield from check_space(landing, alternative)
            yield from check_inodes(landing)
            yield from check_quota(landing)
            if landing.largest is None and any(map(self._request.wants, SIZED_RULES)):
                yield Unknown("checkpoint-size", {"path": str(landing.path)})
            share_s = (end - time.monotonic()) / (len(chosen) - index)
            if landing.path not in refused:
                yield from self._measure(landing, alternative, share_s)

    def _measure(
        self, landing: Landing, alternative: Landing | None, longest_s: float
    ) -> Iterator[Said]:
        if not self._may_write(longest_s):
            yield from check_remote(landing, alternative)
            return
        if landing.free_bytes < SPARE_BYTES:
            yield Unknown("not-measured", {"path": str(landing.path)})
            return
        both = [landing] if alternative is None else [landing, alternative]
        probed = probe([each.folder for each in both], longest_s)
        yield from self._judge(landing, probed[0], list(zip(both[1:], probed[1:], strict=True)))

    def _judge(
        self, landing: Landing, probed: Probed, others: Sequence[tuple[Landing, Probed]]
    ) -> Iterator[Said]:
        if probed.error is not None:
            yield not_writable(landing.path, probed.error, mount_reading(landing))
        elif probed.synced_bytes_per_s is None:
            yield Unknown("silent-filesystem", {"path": str(landing.path)})
        else:
            self.speeds[landing.path] = probed.synced_bytes_per_s
            found = list(check_speed(landing, probed, others[0] if others else None))
            yield from found
            if not found and landing.kind in NEVER_LOCAL:
                yield from check_remote(landing, others[0][0] if others else None)

    def _may_write(self, longest_s: float) -> bool:
        wanted = any(map(self._request.wants, PROBED_RULES))
        return self._request.probe and wanted and longest_s >= LEAST_S
