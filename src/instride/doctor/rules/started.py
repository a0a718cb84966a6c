"""What scripts leave running in the background, with which priority, and whether that works.

`nice` weighs processes of one session against each other. A process of another session (setsid,
tmux, screen), service or container belongs to another group, and its nice value says nothing
there; only weights, limits and CPU sets of the group do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from instride.doctor.repository import Command, Entry, Repository, ScriptFile, TextFile
from instride.doctor.repository.entries import read_entries
from instride.doctor.repository.shell import (
    Job,
    List,
    background_jobs,
    read_lists,
    without_fillers,
)
from instride.doctor.rules.programs import MULTIPLEXED, Program, read_program
from instride.doctor.rules.remembering import once

TRAINING = re.compile(
    r"\b(torchrun|deepspeed|accelerate\s+launch|torch\.distributed\.(run|launch)|fairseq-train)\b"
    r"|(train|finetune|fine_tune|sft)\w*\.py\b|-m\s+\S*(train|finetune|sft)"
)
CHECKPOINTS = re.compile(
    r"ckpt|checkpoint|\.pth?\b|\.safetensors|(?<![a-z])(step|epoch|iter)[-_*]", re.IGNORECASE
)
UNIT_LIMITS = re.compile(r"\s*(CPUWeight|CPUQuota|AllowedCPUs|CPUAffinity)\s*=", re.IGNORECASE)
COMPOSE_LIMITS = {"cpu_shares", "cpus", "cpuset", "cpu_quota", "cpu_percent"}
VARIABLE = re.compile(r"\s*(?:export\s+)?(\w+)\s*[:?]?=\s*([^\n]{1,400})")
REFERENCE = re.compile(r"\$[({](\w+)[)}]|\$(\w+)")


class Started(msgspec.Struct, frozen=True, eq=False):
    """Something that goes on beside what is started next."""

    file: TextFile
    line: int
    """Of the program itself."""
    command: str
    """As it is written."""
    program: Program
    lasts: bool
    """A loop, a service or a daemon, not something that ends soon."""
    beside_training: bool

    @property
    def yields(self) -> bool:
        """Whether it has a priority that works where it runs."""
        return self.program.has_limit or (self.program.has_nice and not self.program.own_session)


@once
def started(repository: Repository) -> list[Started]:
    found: list[Started] = []
    for file in repository.scripts:
        if file.kind == "unit":
            found += _of_unit(file)
        elif file.kind == "compose":
            found += _of_compose(file)
        elif file.kind == "procfile":
            found += _of_procfile(file)
        elif file.kind in {"make", "shell"}:
            found += _of_shell(file)
    return found


def _of_shell(file: ScriptFile) -> Iterator[Started]:
    groups: dict[str, list[Command]] = {}
    for command in file.commands:
        groups.setdefault(command.target, []).append(command)
    anywhere = any(TRAINING.search(each.text) for each in file.commands)
    variables = _variables(file)
    for commands in groups.values():
        lists = read_lists((each.line, each.text) for each in commands)
        jobs = background_jobs(lists)
        jobs += [
            Job((each,), is_loop=False)
            for each in lists
            if not each.is_background and _detaches(each.text)
        ]
        for job in jobs:
            beside = _is_beside(job, lists, jobs)
            if not beside and file.kind == "make":
                beside = anywhere and not any(TRAINING.search(each.text) for each in lists)
            yield from _programs(file, job, beside, variables)


def _detaches(text: str) -> bool:
    return bool(MULTIPLEXED.search(text)) or text.startswith(("systemd-run ", "daemonize "))


def _is_beside(job: Job, lists: list[List], jobs: list[Job]) -> bool:
    """Whether training goes on while a job does: started after it without a wait between them,
    or in the background as well."""
    for each in lists[lists.index(job.lists[-1]) + 1 :]:
        if each.commands[0].text.split()[0] == "wait":
            break
        if TRAINING.search(each.text):
            return True
    return any(
        other is not job and any(TRAINING.search(command.text) for command in other.commands)
        for other in jobs
    )


def _programs(
    file: ScriptFile, job: Job, beside: bool, variables: dict[str, str]
) -> Iterator[Started]:
    for command in job.commands:
        text = without_fillers(command.text)
        program = read_program(_expanded(text, variables))
        if program.words:
            yield Started(file, command.line, text, program, job.is_loop, beside)


def _variables(file: ScriptFile) -> dict[str, str]:
    found = (VARIABLE.match(line) for line in file.lines)
    return {each.group(1): each.group(2).strip("\"' ") for each in found if each}


def _expanded(text: str, variables: dict[str, str]) -> str:
    """A command with the variables that the script itself gives a value, one level deep."""
    return REFERENCE.sub(
        lambda each: variables.get(each.group(1) or each.group(2), each.group()), text
    )


def _of_procfile(file: ScriptFile) -> Iterator[Started]:
    trains = any(TRAINING.search(each.text) for each in file.commands)
    for command in file.commands:
        if not TRAINING.search(command.text):
            program = read_program(command.text)
            yield Started(file, command.line, command.text, program, True, trains)


def _of_unit(file: ScriptFile) -> Iterator[Started]:
    limited = any(UNIT_LIMITS.match(line) for line in file.lines)
    for number, line in enumerate(file.lines, 1):
        key, _, value = line.partition("=")
        if key.strip() == "ExecStart" and not TRAINING.search(value):
            text = value.strip().lstrip("-@:+!")
            program = read_program(text)
            program = msgspec.structs.replace(
                program, own_session=True, has_limit=limited or program.has_limit
            )
            yield Started(file, number, text, program, lasts=True, beside_training=False)


def _of_compose(file: ScriptFile) -> Iterator[Started]:
    try:
        entries = read_entries("yaml", file.text)
    except ValueError:
        return
    services: dict[str, list[Entry]] = {}
    for entry in entries:
        if len(entry.path) > 2 and entry.path[0] == "services":
            services.setdefault(entry.path[1], []).append(entry)
    lines = {name: _command(own) for name, own in services.items()}
    trains = any(TRAINING.search(text) for text, _ in lines.values())
    for name, own in services.items():
        text, line = lines[name]
        if text and not TRAINING.search(text):
            program = read_program(text)
            limited = any(COMPOSE_LIMITS & set(entry.path) for entry in own)
            program = msgspec.structs.replace(program, own_session=True, has_limit=limited)
            yield Started(file, line, text, program, lasts=True, beside_training=trains)


def _command(entries: list[Entry]) -> tuple[str, int]:
    """What a service runs, put together where it is a list, and its line."""
    own = [each for each in entries if each.path[2] in {"entrypoint", "command"}]
    words = [str(each.value) for each in own]
    return " ".join(words), own[0].line if own else 1
