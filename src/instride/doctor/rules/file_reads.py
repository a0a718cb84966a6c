"""What one Python file reads by name, and which values it has for names by default."""

from __future__ import annotations

import ast

from instride.doctor.repository import PythonFile
from instride.doctor.repository.configs import Value
from instride.doctor.rules.config_objects import holds_config
from instride.doctor.rules.loops import last_name
from instride.doctor.rules.near_names import normal
from instride.doctor.rules.remembering import once


@once
def file_reads(file: PythonFile) -> FileReads:
    found = FileReads()
    found.read(file)
    return found


class FileReads:
    def __init__(self) -> None:
        self.names: set[str] = set()
        """Every name that a value is taken by, of whatever it may be."""
        self.fields: set[str] = set()
        """Names that classes declare."""
        self.of_config: dict[str, int] = {}
        """Names that are asked of something that looks like a configuration: the first line."""
        self.defaults: dict[str, tuple[Value, int]] = {}
        """Values and their lines."""

    def read(self, file: PythonFile) -> None:
        for attribute in file.nodes(ast.Attribute):
            if isinstance(attribute.ctx, ast.Load):
                self.names.add(attribute.attr)
                self._asked(file, attribute.value, attribute.attr, attribute.lineno)
        for subscript in file.nodes(ast.Subscript):
            match subscript.slice:
                case ast.Constant(str(name)) if isinstance(subscript.ctx, ast.Load):
                    self.names.add(normal(name))
                    self._asked(file, subscript.value, name, subscript.lineno)
        for call in file.nodes(ast.Call):
            self._call(file, call)
        for group in file.nodes(ast.List, ast.Tuple, ast.Set):
            self._texts(group.elts)
        for comparison in file.nodes(ast.Compare):
            self._texts([comparison.left, *comparison.comparators])
        for arguments in file.nodes(ast.arguments):
            # `build(**config)` gives every parameter of `build` its key.
            every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            self.names.update(each.arg for each in every)
        self._declared(file)

    def _asked(self, file: PythonFile, holder: ast.expr, name: str, line: int) -> None:
        if holds_config(file, holder):
            self.of_config.setdefault(normal(name), line)

    def _call(self, file: PythonFile, call: ast.Call) -> None:
        if last_name(call.func) == "add_argument":
            self._option(call)
            return
        self._texts([*call.args, *(each.value for each in call.keywords)])
        match call:
            case ast.Call(ast.Attribute(holder, "get" | "pop"), [ast.Constant(str(key)), *rest]):
                self._asked(file, holder, key, call.lineno)
                self._default(key, rest)
            case ast.Call(ast.Name("getattr"), [holder, ast.Constant(str(key)), *rest]):
                self._asked(file, holder, key, call.lineno)
                self._default(key, rest)

    def _texts(self, nodes: list[ast.expr]) -> None:
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.names.update(map(normal, node.value.split(".")))

    def _declared(self, file: PythonFile) -> None:
        """Fields of classes, and `DEFAULT_CONFIG = {"compile": True}`."""
        for field in file.nodes(ast.AnnAssign):
            match field:
                case ast.AnnAssign(ast.Name(name), value=value) if _is_in_class(file, field):
                    self.fields.add(name)
                    self._default(name, [value] if value is not None else [])
        for assign in file.nodes(ast.Assign):
            match assign:
                case ast.Assign([ast.Name(name)], value) if _is_in_class(file, assign):
                    self._default(name, [value])
                case ast.Assign([target], ast.Dict(keys, values)) if holds_config(file, target):
                    for key, value in zip(keys, values, strict=True):
                        if isinstance(key, ast.Constant) and isinstance(key.value, str):
                            self._default(key.value, [value])

    def _option(self, call: ast.Call) -> None:
        given = {each.arg: each.value for each in call.keywords}
        values = [given["default"]] if "default" in given else []
        match given.get("action"):
            case ast.Constant("store_true" | "store_false" as action) if not values:
                values = [ast.Constant(action == "store_false", lineno=call.lineno)]
        for option in call.args:
            if isinstance(option, ast.Constant) and isinstance(option.value, str):
                self._default(option.value.lstrip("-"), values)

    def _default(self, name: str, values: list[ast.expr]) -> None:
        value = values[0] if values else None
        if isinstance(value, ast.Constant) and isinstance(value.value, Value):
            self.defaults.setdefault(normal(name), (value.value, value.lineno))


def _is_in_class(file: PythonFile, node: ast.AST) -> bool:
    return isinstance(file.parent(node), ast.ClassDef)
