"""What names have until somebody says otherwise: variables, fields, options and parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from instride.doctor.repository import PythonFile

Default = tuple[str, ast.expr]


def plain_key(name: str) -> str:
    """One spelling of `--out-dir`, `OUT_DIR` and `out_dir`."""
    return name.lstrip("-").replace("-", "_").lower()


def defaults(file: PythonFile) -> Iterator[Default]:
    yield from assigned(file)
    yield from options(file)
    for arguments in file.nodes(ast.arguments):
        yield from parameter_defaults(arguments)


def assigned(file: PythonFile) -> Iterator[Default]:
    """`out_dir = "out"`, `config.out_dir = "out"`, `out_dir: str = "out"`."""
    for assign in file.nodes(ast.Assign):
        for target in assign.targets:
            yield from _named(target, assign.value)
    for field in file.nodes(ast.AnnAssign):
        if field.value is not None:
            yield from _named(field.target, field.value)


def options(file: PythonFile) -> Iterator[Default]:
    """`parser.add_argument("-o", "--out-dir", default="out")`, by each of its names."""
    for call in file.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
            for keyword in call.keywords:
                if keyword.arg == "default":
                    for name in _texts(call.args):
                        yield plain_key(name), keyword.value


def parameter_defaults(arguments: ast.arguments) -> Iterator[Default]:
    """`def f(out_dir="out")`."""
    plain = arguments.posonlyargs + arguments.args
    given = arguments.defaults
    for argument, default in (
        *zip(plain[len(plain) - len(given) :], given, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        if default is not None:
            yield plain_key(argument.arg), default


def _named(target: ast.expr, value: ast.expr) -> Iterator[Default]:
    if isinstance(target, ast.Name):
        yield plain_key(target.id), value
    elif isinstance(target, ast.Attribute):
        yield plain_key(target.attr), value


def _texts(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
