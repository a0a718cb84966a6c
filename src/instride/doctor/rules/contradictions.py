"""Values of a configuration that cannot both be meant."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from instride.doctor.diffs import diff
from instride.doctor.model import Certainty, Fix, FixKind
from instride.doctor.repository import ConfigFile, Entry, PythonFile, Repository
from instride.doctor.repository.configs import Value
from instride.doctor.repository.files import TextFile
from instride.doctor.rules.config_files import own_entries, training_configs
from instride.doctor.rules.config_objects import config_names, holds_config
from instride.doctor.rules.key_fixes import without
from instride.doctor.rules.loops import source, step_loops
from instride.doctor.rules.near_names import normal


class Contradiction(msgspec.Struct, frozen=True, eq=False):
    key: str
    value: Value
    file: TextFile
    line: int
    other_key: str
    other_value: Value
    other_file: TextFile
    other_line: int
    certainty: Certainty
    fix: Fix


Pair = tuple[str, str, Callable[[Any, Any], bool]]
PAIRS: tuple[Pair, ...] = (
    ("fp16", "bf16", lambda one, other: one is True and other is True),
    ("warmup_steps", "max_steps", lambda warm, steps: warm >= steps > 0),
    ("warmup_iters", "max_iters", lambda warm, steps: warm >= steps > 0),
    ("min_lr", "lr", lambda least, most: least > most > 0),
    ("min_lr", "learning_rate", lambda least, most: least > most > 0),
)
"""Keys side by side whose values exclude each other."""


def contradictions(repository: Repository) -> Iterator[Contradiction]:
    for config in training_configs(repository):
        yield from _given_twice(config)
        yield from _excluding(config)
        yield from _overruled(repository, config)


def _given_twice(config: ConfigFile) -> Iterator[Contradiction]:
    """A key twice in one mapping: readers take the last one without a word."""
    if config.kind != "yaml" or "\n---" in config.text:
        return  # others refuse it, and every document of a stream has its own keys
    seen: dict[tuple[str, ...], Entry] = {}
    for entry in config.entries:
        before = seen.get(entry.path)
        if before is not None and before.value != entry.value and entry.line != before.line:
            yield _between(config, before, entry, Certainty.SURE, without(config, before))
        seen[entry.path] = entry


def _excluding(config: ConfigFile) -> Iterator[Contradiction]:
    by_path = {entry.path: entry for entry in own_entries(config)}
    for path, entry in by_path.items():
        for one, other, excludes in PAIRS:
            beside = by_path.get((*path[:-1], other))
            if path[-1] != one or beside is None:
                continue
            values = entry.value, beside.value
            if all(isinstance(each, int | float) for each in values) and excludes(*values):
                yield _between(config, entry, beside, Certainty.LIKELY, without(config, entry))


def _overruled(repository: Repository, config: ConfigFile) -> Iterator[Contradiction]:
    """A value that the trainer replaces by its own, whatever the configuration says."""
    entries = {normal(entry.key): entry for entry in own_entries(config)}
    for file in {loop.file.path: loop.file for loop in step_loops(repository)}.values():
        if not config_names(file):
            continue
        for assign in file.nodes(ast.Assign):
            name, value = _set_on_config(file, assign)
            entry = entries.get(name)
            if entry is None or entry.value == value or not _always_runs(file, assign):
                continue
            line = assign.lineno
            removed = diff(file, {line: []}) if line == assign.end_lineno else None
            yield Contradiction(
                entry.key,
                entry.value,
                config,
                entry.line,
                name,
                value,
                file,
                line,
                Certainty.LIKELY,
                removed or Fix(FixKind.LINE, f"# {file.lines[line - 1].strip()}"),
            )


def _set_on_config(file: PythonFile, assign: ast.Assign) -> tuple[str, Value]:
    """`config.compile = True` of a configuration that is loaded in this file."""
    match assign:
        case ast.Assign([ast.Attribute(holder, name)], ast.Constant(value)):
            pass
        case ast.Assign([ast.Subscript(holder, ast.Constant(str(name)))], ast.Constant(value)):
            pass
        case _:
            return "", None
    if holds_config(file, holder) and isinstance(value, Value):
        return normal(name), value
    return "", None


def _always_runs(file: PythonFile, assign: ast.Assign) -> bool:
    """Whether it stands under no condition, in the function that trains or at the top."""
    return not any(
        isinstance(above, ast.If | ast.Try | ast.For | ast.While | ast.ClassDef | ast.Match)
        and not _asks_if_main(above)
        for above in file.ancestors(assign)
    )


def _asks_if_main(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "__main__" in source(node.test)


def _between(
    config: ConfigFile, one: Entry, other: Entry, certainty: Certainty, fix: Fix
) -> Contradiction:
    return Contradiction(
        ".".join(one.path),
        one.value,
        config,
        one.line,
        ".".join(other.path),
        other.value,
        config,
        other.line,
        certainty,
        fix,
    )
