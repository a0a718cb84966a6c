"""Where a repository says that its checkpoints go, in its configs and in defaults of its code."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from instride.doctor.repository import PythonFile, Repository

KEYS = frozenset({
    "out_dir", "output_dir", "save_dir", "checkpoint_dir", "checkpoints_dir", "ckpt_dir",
    "checkpoint_path", "save_path", "default_root_dir", "save_folder", "checkpoint_folder",
    "dump_folder",
})  # fmt: skip
SAVING = (
    "torch.save", "save_checkpoint", "save_pretrained", "TrainingArguments", "ModelCheckpoint",
    ".backward(",
)  # fmt: skip
"""What is in code that trains; elsewhere such a directory is where results or pictures go."""
CHECKPOINTS = frozenset({".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".tar"})
SPELLINGS = (*KEYS, *(key.replace("_", "-") for key in KEYS))
NOT_PLAIN = frozenset("${}%<>*\n\0")
"""In a value: something else is put there when it is used."""
MOST = 8
"""Repositories with many examples name as many directories, mostly on one disk."""


def checkpoint_paths(repository: Repository) -> tuple[Path, ...]:
    """Directories that exist here, or could be made where their parent is."""
    found: dict[Path, None] = {}
    for text in _values(repository):
        path = _resolved(repository.root, text)
        if path is not None:
            found.setdefault(path)
        if len(found) == MOST:
            break
    return tuple(found)


def _values(repository: Repository) -> Iterator[str]:
    for config in repository.configs:
        if not config.aside and config.mentions(*SPELLINGS):
            for entry in config.entries:
                if _key(entry.key) in KEYS and isinstance(entry.value, str):
                    yield entry.value
    for file in repository.python_mentioning(*SPELLINGS):
        if not file.aside and ("train" in file.path.lower() or file.mentions(*SAVING)):
            yield from _defaults(file)


def _key(name: str) -> str:
    return name.lstrip("-").replace("-", "_").lower()


def _defaults(file: PythonFile) -> Iterator[str]:
    """`out_dir = "out"`, `out_dir: str = "out"`, `f(out_dir="out")`, `--out_dir` of a parser."""
    for assign in file.nodes(ast.Assign):
        if any(_is_key(target) for target in assign.targets):
            yield from _text(assign.value)
    for field in file.nodes(ast.AnnAssign):
        if _is_key(field.target):
            yield from _text(field.value)
    for arguments in file.nodes(ast.arguments):
        yield from _argument_defaults(arguments)
    for call in file.nodes(ast.Call):
        yield from _option_default(call)


def _option_default(call: ast.Call) -> Iterator[str]:
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"):
        return
    names = [text for argument in call.args for text in _text(argument)]
    if any(_key(name) in KEYS for name in names):
        for keyword in call.keywords:
            if keyword.arg == "default":
                yield from _text(keyword.value)


def _argument_defaults(arguments: ast.arguments) -> Iterator[str]:
    plain = arguments.posonlyargs + arguments.args
    defaults = arguments.defaults
    pairs = [
        *zip(plain[len(plain) - len(defaults) :], defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if _key(argument.arg) in KEYS:
            yield from _text(default)


def _is_key(target: ast.expr) -> bool:
    if isinstance(target, ast.Name):
        return _key(target.id) in KEYS
    return isinstance(target, ast.Attribute) and _key(target.attr) in KEYS


def _text(node: ast.expr | None) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _resolved(root: Path, text: str) -> Path | None:
    """The directory that a value names; None where that is none, or one of another machine."""
    if not text.strip() or "://" in text or NOT_PLAIN & set(text):
        return None
    if Path(text).suffix in CHECKPOINTS:
        text = str(Path(text).parent)
    try:
        os.fsencode(text)
        path = root / Path(text).expanduser()
        is_here = path.is_dir() or path.parent.is_dir() or not Path(text).is_absolute()
    except (OSError, RuntimeError, ValueError):
        return None
    return path if is_here else None
