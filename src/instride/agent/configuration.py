"""What the agent is told to do: a TOML file, and flags that win over it.

[watcher]
path = "checkpoints"
pattern = "step_*.pt"
[cleanup]
keep_latest = 3
[compression]
enabled = true
level = 9
[governor]
budget = 0.02
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from instride.errors import BadConfigError, nearest
from instride.reasons import Reason

Format = Literal["zstd", "lz4", "pack"]
Mode = Literal["share", "after"]
LEVELS = {"zstd": (1, 22), "lz4": (0, 16), "pack": (1, 1)}
LONGEST_S = 1e9


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the agent is told; a field is named after its key."""

    directories: tuple[Path, ...] = ()
    pattern: str = "*.pt"
    """Which files are checkpoints, by name; as a shell does it."""
    interval_s: float = 5.0
    """From one look at a directory to the next, if nothing wakes the agent before."""
    keep: int | None = None
    """Of each series of checkpoints, the so many newest; None: all."""
    is_compressing: bool = True
    format: Format = "zstd"
    level: int = 1
    removes_original: bool = False
    budget: float | None = 0.02
    """What training may be slowed down by, as a share of its step time."""
    mode: Mode = "share"
    deadline_s: float | None = None
    """After so long a checkpoint should be done; by default when the next one is expected."""
    log: Path | None = None
    """What the training prints, where its steps are read from."""


class _Key(msgspec.Struct, frozen=True):
    field: str
    read: Callable[[Any, Mapping[str, Any]], Any]
    """The value of a key, or a Reason why it cannot be one."""


def read_file(path: Path) -> Configuration:
    """The configuration in a file; paths in it are relative to it. Raises BadConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadConfigError(str(path), Reason.of(error), message="message.file") from error
    except UnicodeDecodeError as error:
        raise BadConfigError(str(path), Reason("no-text"), message="message.file") from error
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = Reason("os", {"text": str(error)})
        raise BadConfigError(str(path), reason, message="message.file") from error
    values: dict[str, Any] = {}
    for section, table in tables.items():
        if section not in KEYS:
            raise _unknown(path, text, section, None)
        if not isinstance(table, dict):
            raise _bad(path, text, None, section, Reason("no-table"))
        for name, value in table.items():
            values.update(_read_key(path, text, section, name, value, tables))
    directories = tuple(path.parent / each for each in values.pop("directories", ()))
    log = values.pop("log", None)
    return Configuration(directories=directories, log=log and path.parent / log, **values)


def _read_key(
    path: Path, text: str, section: str, name: str, value: object, tables: Mapping[str, Any]
) -> dict[str, Any]:
    key = KEYS[section].get(name)
    if key is None:
        raise _unknown(path, text, section, name)
    read = key.read(value, tables)
    if isinstance(read, Reason):
        raise _bad(path, text, section, name, read)
    return {key.field: read}


def _unknown(path: Path, text: str, section: str, name: str | None) -> BadConfigError:
    """A section or a key that is none, with the name that was meant."""
    meant = nearest(section if name is None else name, KEYS if name is None else KEYS[section])
    near = Reason("near-setting", {"nearest": meant}) if meant else Reason("no-setting")
    if name is None:
        return _bad(path, text, None, section, near)
    return _bad(path, text, section, name, near)


def _bad(path: Path, text: str, section: str | None, name: str, why: Reason) -> BadConfigError:
    said = f"[{name}]" if section is None else f"[{section}] {name}"
    return BadConfigError(str(path), why, said, line_of(text, section, name))


def line_of(text: str, section: str | None, name: str) -> int:
    """In which line a section or a key stands; tomllib does not tell."""
    current = None
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[\s*[\"']?([^\]\"']+?)[\"']?\s*\]", line):
            current = head[1]
            if section is None and current == name:
                return number
        elif section in (None, current) and re.match(
            rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]", line
        ):
            return number
    return 1


def _flag(value: object, _: object) -> object:
    return value if isinstance(value, bool) else Reason("want-flag")


def _text(value: object, _: object) -> object:
    return value if isinstance(value, str) and value else Reason("want-text")


def _paths(value: object, _: object) -> object:
    each = [value] if isinstance(value, str) else value
    if not isinstance(each, list) or not each or not all(isinstance(p, str) and p for p in each):
        return Reason("want-text")
    return tuple(Path(path).expanduser() for path in each)


def _pattern(value: object, _: object) -> object:
    is_name = isinstance(value, str) and value and "/" not in value
    return value if is_name else Reason("want-pattern")


def _path(value: object, _: object) -> object:
    return Path(value).expanduser() if isinstance(value, str) and value else Reason("want-text")


def _keep(value: object, _: object) -> object:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    return value if is_count else Reason("want-count")


def _level(value: object, tables: Mapping[str, Any]) -> object:
    format = tables.get("compression", {}).get("format", "zstd")
    low, high = LEVELS.get(format if isinstance(format, str) else "", LEVELS["zstd"])
    if format == "pack":
        return Reason("no-level")
    is_level = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    return value if is_level else Reason("want-whole", {"low": low, "high": high})


def _seconds(value: object, _: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value <= LONGEST_S else Reason("want-seconds")  # type: ignore[arg-type, operator]


def _budget(value: object, _: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < 1 else Reason("want-share")  # type: ignore[arg-type, operator]


def _one_of(*names: str) -> Callable[[object, object], object]:
    def read(value: object, _: object) -> object:
        return value if value in names else Reason("want-choice", {"names": ", ".join(names)})

    return read


KEYS: Mapping[str, Mapping[str, _Key]] = {
    "watcher": {
        "path": _Key("directories", _paths),
        "pattern": _Key("pattern", _pattern),
        "interval": _Key("interval_s", _seconds),
    },
    "cleanup": {"keep_latest": _Key("keep", _keep)},
    "compression": {
        "enabled": _Key("is_compressing", _flag),
        "level": _Key("level", _level),
        "format": _Key("format", _one_of(*LEVELS)),
        "remove_original": _Key("removes_original", _flag),
    },
    "governor": {
        "budget": _Key("budget", _budget),
        "mode": _Key("mode", _one_of("share", "after")),
        "deadline": _Key("deadline_s", _seconds),
        "log": _Key("log", _path),
    },
}
