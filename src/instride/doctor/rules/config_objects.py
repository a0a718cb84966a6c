"""Which expressions of a Python file are a configuration, and which part of it."""

from __future__ import annotations

import ast
import re

from instride.doctor.repository import PythonFile
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.remembering import once

CONFIG = re.compile(
    r"(\w+_)?(config|configs|cfg|conf|args|opts?|hparams|hps?|params|settings|options|flags)"
    r"(_\w+)?|[cC]",
    re.IGNORECASE,
)
"""Names of what holds a configuration."""
LOADS = {
    "yaml": ("yaml.load", "yaml.safe_load", "yaml.full_load", "OmegaConf.load", "hydra"),
    "toml": ("tomllib.load", "tomli.load", "toml.load", "tomllib", "tomlkit"),
    "json": ("json.load",),
}
"""What code that reads a kind of file mentions."""
LOADERS = {"load", "loads", "safe_load", "full_load", "unsafe_load"}
LOADED_FROM = {"yaml", "tomllib", "tomli", "toml", "json", "OmegaConf", "omegaconf", "ruamel"}
SAME_THING = {
    "dict", "vars", "asdict", "copy", "deepcopy", "to_container", "create", "SimpleNamespace",
    "Namespace", "DictConfig", "EasyDict", "edict", "Box", "Munch", "AttrDict", "ConfigDict",
    "model_dump", "to_dict",
}  # fmt: skip
"""Calls that give back what they are given, in another shape."""


@once
def config_names(file: PythonFile) -> dict[str, str | None]:
    """Variables that hold a loaded configuration, or a part of one: the key of the part."""
    found: dict[str, str | None] = {}
    for assign in file.nodes(ast.Assign):
        match assign.targets:
            case [ast.Name(name)] if _loads(file, assign.value, name):
                found[name] = None
            case [ast.Name(name)]:
                part = _part(assign.value, found)
                if part is not None:
                    found[name] = part
    return found


def _loads(file: PythonFile, value: ast.expr, kept_in: str) -> bool:
    """`yaml.safe_load(...)`, `load_config(...)`; JSON is data if it is not called otherwise."""
    if not isinstance(value, ast.Call):
        return False
    name = last_name(value.func)
    if isinstance(value.func, ast.Name) and name in {"load_config", "read_config"}:
        return True
    modules = set((file.name_of(value.func) or "").split("."))
    if "json" in modules and not CONFIG.fullmatch(kept_in):
        return False
    return name in LOADERS and bool(LOADED_FROM & modules)


def holds_config(file: PythonFile, node: ast.expr) -> bool:
    """Whether an expression is a configuration or a part of one, by the names in it."""
    return root_of(file, node) is not None


def root_of(file: PythonFile, node: ast.expr) -> str | None:
    """The name in an expression that stands for a configuration."""
    known = config_names(file)
    while True:
        match node:
            case ast.Attribute(value, name):
                if CONFIG.fullmatch(name):
                    return name
                node = value
            case ast.Subscript(value, _) | ast.Call(ast.Attribute(value, "get"), _):
                node = value
            case ast.Call(func) if last_name(func) in SAME_THING and (given := _given(node)):
                node = given[0]
            case ast.Name(name):
                return name if name in known or CONFIG.fullmatch(name) else None
            case _:
                return None


def part_of(file: PythonFile, node: ast.expr) -> str | None:
    """The key of the part that an expression is: `model` of `cfg["model"]`; None for the whole."""
    return _part(node, config_names(file))


def _part(node: ast.expr, known: dict[str, str | None]) -> str | None:
    match node:
        case ast.Subscript(value, ast.Constant(str(key))):
            return key if _is_config(value, known) else None
        case ast.Attribute(value, key):
            return key if _is_config(value, known) else None
        case ast.Call(ast.Attribute(value, "get" | "pop"), [ast.Constant(str(key)), *_]):
            return key if _is_config(value, known) else None
        case ast.Call(func) if last_name(func) in SAME_THING:
            parts = (_part(value, known) for value in _given(node))
            return next((part for part in parts if part is not None), None)
        case ast.BoolOp(values=[value, *_]):
            return _part(value, known)
        case ast.Name(name):
            return known.get(name)
    return None


def unwrapped(node: ast.expr) -> ast.expr:
    """What a call that only gives it another shape was given."""
    while isinstance(node, ast.Call) and last_name(node.func) in SAME_THING and _given(node):
        node = _given(node)[0]
    return node


def _given(call: ast.Call) -> list[ast.expr]:
    """What a call is given, by position or as `**options`."""
    return [*call.args, *(each.value for each in call.keywords if each.arg is None)]


def _is_config(node: ast.expr, known: dict[str, str | None]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in known or bool(CONFIG.fullmatch(node.id))
    if isinstance(node, ast.Attribute) and CONFIG.fullmatch(node.attr):
        return True
    return _part(node, known) is not None
