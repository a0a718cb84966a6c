"""Configuration files with a key renamed, removed or joined with its twin."""

from __future__ import annotations

import re

from instride.doctor.diffs import diff, with_lines
from instride.doctor.model import Fix, FixKind
from instride.doctor.repository import ConfigFile, Entry
from instride.doctor.repository.configs import Value
from instride.doctor.repository.entries import read_entries

ASSIGNED = re.compile(r"^(\s*(?:-\s+)?)([\"']?)([\w.-]+)\2(\s*[:=]\s*)([^#\n]*?)(,?\s*(?:#.*)?)$")
"""Indentation, quote, key, sign, value, and what follows."""


def renamed(config: ConfigFile, entry: Entry, name: str) -> Fix:
    """The key under the name that the code reads."""
    line = config.lines[entry.line - 1]
    match = ASSIGNED.match(line)
    if match and match[3] == entry.key:
        changed = {entry.line: [line[: match.start(3)] + name + line[match.end(3) :]]}
        fix = diff(config, changed)
        if fix is not None and _still_has(config, changed, name, entry.value):
            return fix
    return Fix(FixKind.LINE, _line(config, name, entry.value))


def joined(config: ConfigFile, entry: Entry, twin_line: int) -> Fix:
    """One key where there were two: the name that is read, with the value that was not."""
    line, twin = config.lines[entry.line - 1], config.lines[twin_line - 1]
    own, other = ASSIGNED.match(line), ASSIGNED.match(twin)
    if own and other and own[3] == entry.key and entry.line != twin_line:
        changed = {
            entry.line: [],
            twin_line: [twin[: other.start(5)] + own[5].strip() + twin[other.end(5) :]],
        }
        fix = diff(config, changed)
        if fix is not None and _still_has(config, changed, other[3], entry.value):
            return fix
    name = other[3] if other else entry.key
    return Fix(FixKind.LINE, _line(config, name, entry.value))


def without(config: ConfigFile, entry: Entry) -> Fix:
    """The file without a key."""
    match = ASSIGNED.match(config.lines[entry.line - 1])
    if match and match[3] == entry.key:
        changed: dict[int, list[str]] = {entry.line: []}
        fix = diff(config, changed)
        before, after = len(config.entries), _entries(config, changed)
        if fix is not None and after is not None and len(after) == before - 1:
            return fix
    return Fix(FixKind.LINE, f"# {config.lines[entry.line - 1].strip()}")


def _entries(config: ConfigFile, changed: dict[int, list[str]]) -> list[Entry] | None:
    try:
        return read_entries(config.kind, "\n".join(with_lines(config, changed)))
    except (ValueError, RecursionError, MemoryError):
        return None


def _still_has(config: ConfigFile, changed: dict[int, list[str]], name: str, value: Value) -> bool:
    entries = _entries(config, changed)
    return any(each.key == name and each.value == value for each in entries or ())


def _line(config: ConfigFile, name: str, value: Value) -> str:
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str):
        text = f'"{value}"'
    else:
        text = "null" if value is None else str(value)
    if config.kind == "yaml":
        return f"{name}: {text}"
    return f'"{name}": {text}' if config.kind == "json" else f"{name} = {text}"
