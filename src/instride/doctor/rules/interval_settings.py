"""Where a repository sets how often it saves or evaluates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard

import msgspec

from instride.doctor.diffs import diff
from instride.doctor.model import Fix, Place
from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.files import TextFile
from instride.doctor.rules.loops import NOT_TRAINERS, last_name
from instride.doctor.rules.near_names import normal

UNIT = r"(interval|every|steps?|freq(uency)?|period|every_n_(train_)?steps|factor)"
SAVES = re.compile(rf"(save|checkpoint|ckpt|snapshot)(_\w+)?_{UNIT}|every_n_train_steps", re.I)
EVALUATES = re.compile(rf"(eval|val|valid|validation|test|evaluation)(_\w+)?_{UNIT}", re.I)
MENTIONED = ("save", "ckpt", "checkpoint", "eval", "val")


class IntervalSetting(msgspec.Struct, frozen=True, eq=False):
    """A number of steps, and where it stands."""

    value: int
    file: TextFile
    line: int

    @property
    def place(self) -> Place:
        return self.file.place(self.line)

    def changed_to(self, steps: int) -> Fix | None:
        """A diff with another number, where the line has this one only once."""
        text = self.file.lines[self.line - 1]
        changed, count = re.subn(rf"(?<![\w.]){self.value}(?![\w.])", str(steps), text)
        return diff(self.file, {self.line: [changed]}) if count == 1 else None


def settings(repository: Repository, name: re.Pattern[str]) -> list[IntervalSetting]:
    """All settings whose name fits; configurations before defaults in code, examples last."""
    found = [
        IntervalSetting(entry.value, config, entry.line)
        for config in repository.configs
        for entry in config.entries
        if name.fullmatch(normal(entry.key)) and _is_number(entry.value)
    ]
    for file in repository.python_mentioning(*MENTIONED):
        if not NOT_TRAINERS.search(file.path):
            found += [
                IntervalSetting(value.value, file, value.lineno)
                for key, value in _defaults(file)
                if name.fullmatch(normal(key)) and _is_number(value.value)
            ]
    return sorted(found, key=lambda setting: setting.file.aside)


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 1


def _defaults(file: PythonFile) -> Iterator[tuple[str, ast.Constant]]:
    """`save_interval = 100`, `save_interval: int = 100`, an option with a default, `f(x=100)`."""
    for assign in file.nodes(ast.Assign):
        if len(assign.targets) == 1 and isinstance(assign.value, ast.Constant):
            yield last_name(assign.targets[0]), assign.value
    for field in file.nodes(ast.AnnAssign):
        if isinstance(field.value, ast.Constant):
            yield last_name(field.target), field.value
    for call in file.nodes(ast.Call):
        given = {
            each.arg: each.value
            for each in call.keywords
            if each.arg and isinstance(each.value, ast.Constant)
        }
        if last_name(call.func) != "add_argument":
            yield from given.items()
        elif "default" in given:
            options = (each.value for each in call.args if isinstance(each, ast.Constant))
            yield from ((str(option).lstrip("-"), given["default"]) for option in options)
