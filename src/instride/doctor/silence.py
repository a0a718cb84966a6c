"""What a repository does not want to hear: comments beside a line, and settings for all of it.

    torch.save(state, path)  # instride: ignore[save-in-place]

    [tool.instride.doctor]
    ignore = ["unused-key"]
    exclude = ["vendor/*"]

The comment may stand on the line or on the one above it, in whatever way the file writes comments.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from instride.doctor.catalogue import RULES
from instride.doctor.model import Finding, Place
from instride.doctor.repository.files import read_text
from instride.errors import BadSettingError, UnknownRuleError, nearest
from instride.reasons import Reason

SETTINGS_FILE = "pyproject.toml"
TABLE = ("tool", "instride", "doctor")
COMMENT = re.compile(r"instride: *ignore\[([\w ,-]*)\]")


class Settings(msgspec.Struct, frozen=True):
    ignore: tuple[str, ...] = ()
    """Ids of rules that are not checked, unless `--only` names them."""
    exclude: tuple[str, ...] = ()
    """Patterns of paths that are not read."""


def read_settings(root: Path) -> Settings:
    """The settings of a repository; a file that is not there, or no TOML, says nothing."""
    table: object = _toml(root)
    for name in TABLE:
        table = table.get(name, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise BadSettingError(".".join(TABLE), Reason("no-table"))
    for key in table:
        if key not in Settings.__struct_fields__:
            meant = nearest(key, Settings.__struct_fields__)
            near = Reason("near-setting", {"nearest": meant}) if meant else Reason("no-setting")
            raise BadSettingError(key, near)
    settings = Settings(*(_texts(table, name) for name in Settings.__struct_fields__))
    check_rules(settings.ignore, SETTINGS_FILE)
    return settings


def _toml(root: Path) -> dict[str, object]:
    if not (root / SETTINGS_FILE).is_file():
        return {}
    try:
        return tomllib.loads(read_text(root, SETTINGS_FILE, []) or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _texts(table: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = table.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadSettingError(name, Reason("no-texts"))
    return tuple(value)


def check_rules(names: Iterable[str], where: str = "") -> None:
    """Raise UnknownRuleError for a name that is not in the catalogue."""
    for name in names:
        if name not in RULES:
            raise UnknownRuleError(name, nearest(name, RULES), where)


def is_silenced(finding: Finding, lines_of: Mapping[str, Sequence[str]]) -> bool:
    """Whether a comment beside any of the places of a finding says that it is known."""
    return any(
        finding.rule in _silenced_at(place, lines_of.get(place.path, ()))
        for place in finding.evidence
        if isinstance(place, Place)
    )


def _silenced_at(place: Place, lines: Sequence[str]) -> set[str]:
    names: set[str] = set()
    for line in lines[max(0, place.line - 2) : place.line]:
        for comment in COMMENT.finditer(line):
            names |= {name.strip() for name in comment[1].split(",")} - {""}
    check_rules(names, f"{place.path}:{place.line}")
    return names
