"""The rules, worst first: ids, what they are about, and how they rank.

A measured cost ranks a finding by itself. Without one, the rule's usual cost does: a guess at the
seconds an hour of training loses to it, work lost in a crash included, good for an order only and
never shown.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from instride.doctor.model import Certainty, Finding

DOUBT = {Certainty.SURE: 1.0, Certainty.LIKELY: 0.9, Certainty.PERHAPS: 0.001}
"""What is perhaps so comes after everything that is."""


class About(StrEnum):
    MACHINE = "machine"
    REPOSITORY = "repository"


class Rule(msgspec.Struct, frozen=True):
    id: str
    about: About
    usual_cost_s_per_hour: float


def _machine(id: str, usual: float) -> Rule:
    return Rule(id, About.MACHINE, usual)


def _repository(id: str, usual: float) -> Rule:
    return Rule(id, About.REPOSITORY, usual)


CATALOGUE = (
    _machine("little-space", 900),
    _machine("disk-nearly-full", 895),
    _machine("few-inodes", 890),
    _machine("quota-near", 880),
    _machine("checkpoints-not-writable", 870),
    _repository("shallow-copy-to-thread", 860),
    _machine("volatile-checkpoints", 850),
    _machine("container-checkpoints", 840),
    _machine("swapping-now", 700),
    _machine("memory-short", 690),
    _repository("compressor-beside-training", 600),
    _repository("syncer-beside-training", 590),
    _machine("rival-reads-checkpoints", 580),
    _machine("rival-process", 570),
    _repository("whole-file-compression", 500),
    _machine("gpu-throttled", 480),
    _machine("gpu-shared", 470),
    _machine("faster-disk-nearby", 465),
    _machine("slow-checkpoint-disk", 460),
    _machine("remote-checkpoint-disk", 450),
    _repository("twin-keys", 400),
    _repository("contradicting-values", 390),
    _repository("two-cleaners", 300),
    _repository("deletes-before-saving", 290),
    _repository("daemon-thread-saves", 280),
    _machine("priority-does-nothing", 270),
    _repository("save-in-place", 200),
    _repository("orders-by-mtime", 190),
    _repository("unanchored-step-pattern", 180),
    _repository("save-blocks-training", 170),
    _machine("ionice-does-nothing", 160),
    _repository("saves-too-often", 150),
    _repository("evaluates-too-often", 140),
    _repository("saves-too-rarely", 130),
    _machine("snapshot-does-not-fit", 120),
    _machine("small-shm", 110),
    _repository("collects-garbage-often", 100),
    _repository("empties-cache", 95),
    _repository("synchronizes-every-step", 90),
    _repository("waits-for-values-every-step", 80),
    _repository("loader-restarts-workers", 70),
    _repository("loader-workers", 65),
    _repository("loader-not-pinned", 60),
    _machine("gpu-link-narrow", 55),
    _machine("gpu-memory-full", 50),
    _machine("swap-in-use", 45),
    _machine("dirty-limits", 40),
    _repository("unused-key", 30),
    _repository("module-pickled", 20),
)
RULES = {rule.id: rule for rule in CATALOGUE}


def by_cost(findings: list[Finding]) -> list[Finding]:
    """The findings, worst first; equal ones in the order of their evidence."""
    return sorted(findings, key=_rank)


def _rank(finding: Finding) -> tuple[float, str]:
    cost = finding.cost_s_per_hour
    usual = RULES[finding.rule].usual_cost_s_per_hour
    weight = (usual if cost is None else cost) * DOUBT[finding.certainty]
    return -weight, str(finding.evidence[:1])
