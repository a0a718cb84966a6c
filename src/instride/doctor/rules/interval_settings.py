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
from instride.doctor.rules.defaults import Default, assigned, options
from instride.doctor.rules.loops import NOT_TRAINERS
from instride.doctor.rules.near_names import normal
from instride.doctor.rules.own_calls import is_saver

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
    """Of variables, fields and options, and what is passed by name: `f(save_interval=100)`."""
    for name, value in (*assigned(file), *options(file), *_passed(file)):
        if isinstance(value, ast.Constant):
            yield name, value


def _passed(file: PythonFile) -> Iterator[Default]:
    for call in file.nodes(ast.Call):
        for keyword in call.keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword.value


def due_calls(repository: Repository) -> list[tuple[PythonFile, ast.Call]]:
    """Where a loop asks an `instride.Saver` whether to save: `saver.due(step, every=500)`."""
    return [
        (file, call)
        for file in repository.python_mentioning("instride")
        if not NOT_TRAINERS.search(file.path)
        for call in file.nodes(ast.Call)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "due"
        and is_saver(file, call.func.value)
    ]


def due_settings(repository: Repository) -> list[IntervalSetting]:
    """The numbers of steps that stand in these calls."""
    return [
        IntervalSetting(keyword.value.value, file, keyword.value.lineno)
        for file, call in due_calls(repository)
        for keyword in call.keywords
        if keyword.arg == "every"
        and isinstance(keyword.value, ast.Constant)
        and _is_number(keyword.value.value)
    ]
