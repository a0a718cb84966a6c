"""How to start something so that it yields to training, where it runs."""

from __future__ import annotations

import re

from instride.doctor.diffs import diff
from instride.doctor.model import Fix, FixKind
from instride.doctor.repository import ScriptFile
from instride.doctor.rules.started import Started

NICE = "nice -n 19 ionice -c 3 "
OWN_GROUP = """sh -c 'echo 19 > /proc/self/autogroup; exec nice -n 19 "$0" "$@"' """
"""Gives the whole session a low weight: `nice` alone counts only within it."""
LAUNCHERS = re.compile(r"(\s*\w+=\S*\s+)*(nohup\s+|setsid\s+(-\S+\s+)*)*")
UNIT = ("CPUWeight=1", "IOWeight=1", "Nice=19")


def lowest_priority(each: Started) -> Fix:
    """A diff where the place is plain, else the line to write."""
    file = each.file
    found: Fix | None = None
    if isinstance(file, ScriptFile):
        if file.kind == "unit":
            found = diff(file, {each.line: [file.lines[each.line - 1], *UNIT]})
        elif file.kind == "compose":
            found = _weighed_service(file, each)
        else:
            found = _prefixed(file, each)
    return found or Fix(FixKind.LINE, f"{_prefix(each)}{each.command}\n")


def _prefix(each: Started) -> str:
    return OWN_GROUP if each.program.own_session else NICE


def _prefixed(file: ScriptFile, each: Started) -> Fix | None:
    for number in range(each.line, min(each.line + 20, len(file.lines)) + 1):
        line = file.lines[number - 1]
        for command in (each.command, each.command.replace("$", "$$")):
            first = command.split("  ")[0]
            place = line.find(first)
            if place >= 0:
                return _put(file, each, number, line, place, first)
    return None


def _put(
    file: ScriptFile, each: Started, number: int, line: str, place: int, command: str
) -> Fix | None:
    launcher = LAUNCHERS.match(command)
    begin = place + (launcher.end() if launcher else 0)
    if each.program.own_session and ("'" in command or '"' in command):
        return None  # a command in quotes, for tmux or another shell: ours would end them
    prefix = _prefix(each)
    if file.kind == "make":
        prefix = prefix.replace("$", "$$")
    return diff(file, {number: [line[:begin] + prefix + line[begin:]]})


def _weighed_service(file: ScriptFile, each: Started) -> Fix | None:
    line = file.lines[each.line - 1]
    match = re.match(r"(\s+)(command|entrypoint)\s*:", line)
    if match is None:
        return None
    return diff(file, {each.line: [f"{match.group(1)}cpu_shares: 2", line]})
