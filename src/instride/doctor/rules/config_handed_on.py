"""Parts of a configuration that are handed on as a whole, so that no one can see who reads them.

`AdamW(**config["optimizer"])` reads every key below `optimizer`, whatever it is called, and so does
`instantiate(config.model)`, or a loop over a part. A call of something that the repository itself
defines reads what that definition reads, and a call that only shows or stores reads nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.rules.config_objects import (
    LOADS,
    SAME_THING,
    config_names,
    holds_config,
    part_of,
    root_of,
    unwrapped,
)
from instride.doctor.rules.definitions import Definitions
from instride.doctor.rules.loops import NOT_TRAINERS, last_name, source
from instride.doctor.rules.remembering import once

TYPED_READERS = (
    "jsonargparse", "LightningCLI", "HfArgumentParser", "Config.fromfile", "detectron2.config",
    "torchtune", "gin.parse", "pyrallis", "draccus", "tyro.", "simple_parsing", "yacs", "axolotl",
    "llamafactory", "hyperpyyaml",
)  # fmt: skip
"""Libraries that read a configuration themselves, and refuse or know the keys."""
ONLY_SHOW = {
    "print", "pprint", "str", "repr", "len", "type", "isinstance", "hasattr", "getattr", "setattr",
    "id", "bool", "int", "float", "init", "dump", "dumps", "safe_dump", "to_yaml", "info", "debug",
    "warning", "error", "log", "log_hyperparams", "save_hyperparameters", "add_hparams", "save",
    "log_params", "update", "append", "set_defaults", "merge", "resolve", "set_struct", "Path",
    "join", "range", "min", "max", "format", "sorted", "list", "set", "tuple", "exists", "open",
}  # fmt: skip
"""Calls that show, store, shape or compare what they are given, but take no key out of it."""
COMPUTED = ast.Name | ast.Attribute | ast.JoinedStr
"""What a key is where it is not written down."""
FIELDS = ("__dataclass_fields__", "__annotations__", "model_fields", "fields(", "__struct_fields__")
FILTERS = ("setattr", "hasattr", "print", "add_argument", "log", "globals()", "set_defaults")
"""In a loop over all keys: those that pass are read by name elsewhere."""


class HandedOn:
    """What the code of a repository hands on; files are looked at when they come into question."""

    def __init__(self, repository: Repository) -> None:
        self._files = [file for file in repository.python if not NOT_TRAINERS.search(file.path)]
        self._ours = Definitions(self._files)
        self._by_file: dict[str, frozenset[str | None]] = {}
        self._covered: dict[str, bool] = {}
        self.typed = any(file.mentions(*TYPED_READERS) for file in self._files)
        """Whether a library reads configurations, into classes of its own or of others."""

    @cached_property
    def whole(self) -> bool:
        """Whether a configuration as such is given to something that cannot be seen."""
        words = [word for kind in LOADS.values() for word in kind]
        return any(None in self._by(file) for file in self._files if file.mentions(*words))

    def covers(self, path: Iterable[str]) -> bool:
        """Whether a part above a key is handed on."""
        return self.typed or any(map(self._covers, path))

    def _covers(self, part: str) -> bool:
        if part not in self._covered:
            written = (f".{part}", f'"{part}"', f"'{part}'")
            self._covered[part] = any(
                part in self._by(file) for file in self._files if file.mentions(*written)
            )
        return self._covered[part]

    def _by(self, file: PythonFile) -> frozenset[str | None]:
        if file.path not in self._by_file:
            self._by_file[file.path] = frozenset(_handed_on_by(file, self._ours))
        return self._by_file[file.path]


handed_on = once(HandedOn)


def _handed_on_by(file: PythonFile, ours: Definitions) -> Iterator[str | None]:
    for call in file.nodes(ast.Call):
        yield from _by_call(file, call, ours)
    for loop in file.nodes(ast.For):
        yield from _by_loop(file, loop.iter, loop)
    for comprehension in file.nodes(ast.comprehension):
        yield from _by_loop(file, comprehension.iter, None)
    for subscript in file.nodes(ast.Subscript):
        if isinstance(subscript.ctx, ast.Load) and isinstance(subscript.slice, COMPUTED):
            handed = list(_part_or_whole(file, subscript.value))
            if handed and not (handed == [None] and _is_written_down(file, subscript)):
                yield from handed


def _is_written_down(file: PythonFile, subscript: ast.Subscript) -> bool:
    """Whether a computed key is one that stands in the code somewhere: it is given to the function
    around it, or comes from a loop over something else than the configuration."""
    key = subscript.slice
    if not isinstance(key, ast.Name):
        return False
    for above in file.ancestors(subscript):
        match above:
            case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
                given = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                return any(each.arg == key.id for each in given)
            case ast.For(target=target, iter=over) if _binds(target, key.id):
                return _is_of_the_code(file, over)
            case ast.DictComp() | ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                for each in above.generators:
                    if _binds(each.target, key.id):
                        return _is_of_the_code(file, each.iter)
    return False


def _is_of_the_code(file: PythonFile, names: ast.expr) -> bool:
    """Whether names come from a class or a list, and not from a configuration."""
    return any(word in source(names) for word in FIELDS) or not holds_config(file, names)


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(target))


def _by_call(file: PythonFile, call: ast.Call, ours: Definitions) -> Iterator[str | None]:
    name = (file.name_of(call.func) or last_name(call.func)).rpartition(".")[2]
    if name in SAME_THING:
        return
    given = [*call.args, *(each.value for each in call.keywords if each.arg)]
    spread = [each.value for each in call.keywords if each.arg is None]
    if name not in ours or ours.passes_any_name_on(name):
        for value in spread:
            yield from _keys_of(file, value)
            yield from _part_or_whole(file, value)
    if name in ONLY_SHOW:
        return
    if name not in ours:
        for value in given:
            yield from _part_or_whole(file, value)
    elif any(_is_part_of_something(value) for value in given):
        for value in ours.taken_apart(call, name):
            yield from _keys_of(file, value)
            yield from _part_or_whole(file, value)


def _is_part_of_something(value: ast.expr) -> bool:
    """Whether a value may be a configuration or a part of one: `part`, `x["part"]`, `x.part`."""
    return isinstance(unwrapped(value), ast.Name | ast.Subscript | ast.Attribute | ast.Call)


def _keys_of(file: PythonFile, value: ast.expr) -> Iterator[str]:
    """The last keys by which a value, or what a variable was set to, was taken from anything."""
    values = [value]
    if isinstance(value, ast.Name):
        values = [
            assign.value
            for assign in file.nodes(ast.Assign)
            if any(isinstance(each, ast.Name) and each.id == value.id for each in assign.targets)
        ]
    for each in map(unwrapped, values):
        match each:
            case ast.Subscript(_, ast.Constant(str(key))) | ast.Attribute(_, key):
                yield key
            case ast.Call(ast.Attribute(_, "get" | "pop"), [ast.Constant(str(key)), *_]):
                yield key


def _by_loop(file: PythonFile, over: ast.expr, loop: ast.For | None) -> Iterator[str | None]:
    """A loop over a part takes all its keys; a comprehension over the whole only copies it."""
    match over:
        case ast.Call(ast.Attribute(value, "items" | "keys" | "values"), []):
            over = value
    part = part_of(file, over)
    if part is not None:
        yield part
        return
    whole = list(_part_or_whole(file, over)) if loop is not None else []
    if whole and loop is not None and not any(word in source(loop) for word in FILTERS):
        yield from whole


def _part_or_whole(file: PythonFile, value: ast.expr) -> Iterator[str | None]:
    """The part that an expression is; the whole only of what was loaded in sight."""
    part = part_of(file, value)
    if part is not None:
        yield part
    elif isinstance(value, ast.Name | ast.Call) and root_of(file, value) in config_names(file):
        yield None
