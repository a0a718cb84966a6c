"""What YAML, TOML, JSON and INI files say, with the line of every value.

YAML is read as a stream of events, so that neither nesting nor aliases can make it grow: an alias
of a scalar gives that scalar, one of a mapping or a list gives nothing.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator

import yaml

from instride.doctor.repository.configs import Entry, Value

MOST_ENTRIES = 5_000
MOST_COMMAS = 20_000
"""A file with more is data, not a configuration."""
DEEPEST = 40
MOST_BRACKETS = 200
BRACKET = re.compile(r"[][{}]")
MANY_DOTS = re.compile(r"(?: ?\. ?[\w\"'-]{0,40}){100}")
"""A key of so many parts takes tomllib hours."""
YAML_NULL = {"", "~", "null", "Null", "NULL"}
YAML_TRUE = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}
YAML_FALSE = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}
DEFINITION = re.compile(r"(?<![\w-])([\w-]++)[\"']?\s*+[=:]")
NUMBER = re.compile(r"[-+]?(\d[\d_]*)?(\.\d*)?([eE][-+]?\d+)?")


def read_entries(kind: str, text: str) -> list[Entry]:
    """The entries of a file, none where it is data; ValueError if it is not what its name says."""
    if text.count(",") > MOST_COMMAS:
        return []
    try:
        return _read(kind, text)
    except _DataError:
        return []


class _DataError(Exception):
    """More entries than anyone writes by hand."""


def _read(kind: str, text: str) -> list[Entry]:
    if kind == "yaml":
        return _read_yaml(text)
    if kind == "toml":
        if MANY_DOTS.search(text):
            raise ValueError("nested too deep")
        return _with_lines(tomllib.loads(text), text)
    if kind == "json":
        return _with_lines(json.loads(text), text)
    return _read_ini(text)


class _Level:
    """A mapping or list that is being read."""

    def __init__(self, is_map: bool) -> None:
        self.is_map = is_map
        self.key: str | None = None
        self.count = 0


def _read_yaml(text: str) -> list[Entry]:
    _check_depth(text)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return list(_yaml_entries(yaml.parse(text, Loader=loader)))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _check_depth(text: str) -> None:
    """Refuse what the parser would need hours for: it goes through all open brackets each time."""
    depth = 0
    for bracket in BRACKET.finditer(text):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > MOST_BRACKETS:
            raise ValueError("nested too deep")


def _yaml_entries(events: Iterator[yaml.Event]) -> Iterator[Entry]:
    levels: list[_Level] = []
    anchors: dict[str, Value] = {}
    count = 0
    for event in events:
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            _place_value(levels)
            levels.append(_Level(isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, yaml.CollectionEndEvent):
            levels.pop()
            _end_value(levels)
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            value = _scalar(event, anchors)
            if _is_key(levels):
                levels[-1].key = event.value if isinstance(event, yaml.ScalarEvent) else "*"
                continue
            _place_value(levels)
            if len(levels) <= DEEPEST and not _is_alias_of_more(event, anchors):
                yield Entry(_path(levels), value, _line(event))
                count += 1
            _end_value(levels)
            if count > MOST_ENTRIES:
                raise _DataError


def _is_key(levels: list[_Level]) -> bool:
    return bool(levels) and levels[-1].is_map and levels[-1].key is None


def _place_value(levels: list[_Level]) -> None:
    """Give a value in a list its index, and a mapping that is a key something to be called."""
    if levels and not levels[-1].is_map:
        levels[-1].key = str(levels[-1].count)
    elif _is_key(levels):
        levels[-1].key = "?"


def _end_value(levels: list[_Level]) -> None:
    if levels:
        levels[-1].key = None
        levels[-1].count += 1


def _path(levels: list[_Level]) -> tuple[str, ...]:
    return tuple(level.key or "" for level in levels)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _is_alias_of_more(event: yaml.Event, anchors: dict[str, Value]) -> bool:
    return isinstance(event, yaml.AliasEvent) and event.anchor not in anchors


def _scalar(event: yaml.Event, anchors: dict[str, Value]) -> Value:
    if isinstance(event, yaml.AliasEvent):
        return anchors.get(event.anchor or "")
    assert isinstance(event, yaml.ScalarEvent)
    value = _value(event.value) if not event.style else event.value
    if event.anchor:
        anchors[event.anchor] = value
    return value


def _value(text: str) -> Value:
    """What a bare word stands for; `1e-4` is a number here, as its author meant it."""
    if text in YAML_NULL:
        return None
    if text in YAML_TRUE:
        return True
    if text in YAML_FALSE:
        return False
    return _number(text)


def _number(text: str) -> str | int | float:
    if len(text) > 40 or not NUMBER.fullmatch(text) or not any(c.isdigit() for c in text):
        return text
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _read_ini(text: str) -> list[Entry]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment]  # keys keep their case
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    tree = {
        section: {key: _value(value or "") for key, value in parser.items(section)}
        for section in parser.sections()
    }
    return _with_lines(tree, text)


def _with_lines(tree: object, text: str) -> list[Entry]:
    """The entries of a tree, each at the next line of the text that names its key."""
    finder = _Lines(text)
    found: list[Entry] = []
    for path, value in _leaves(tree):
        found.append(Entry(path, value, finder.line_of(path)))
        if len(found) > MOST_ENTRIES:
            raise _DataError
    return found


def _leaves(tree: object) -> Iterator[tuple[tuple[str, ...], Value]]:
    todo: list[tuple[tuple[str, ...], object]] = [((), tree)]
    while todo:
        path, value = todo.pop()
        if isinstance(value, dict | list):
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            below = [((*path, str(key)), item) for key, item in pairs]
            if len(path) < DEEPEST:
                todo.extend(reversed(below))
        elif value is None or isinstance(value, str | int | float):
            yield path, value
        else:
            yield path, str(value)  # dates


class _Lines:
    """Finds the line of a key; keys come in the order of the text, so the search only goes on."""

    def __init__(self, text: str) -> None:
        self._by_name: dict[str, list[int]] = {}
        for number, line in enumerate(text.split("\n"), 1):
            if not line.lstrip().startswith(("#", ";")):
                for name in DEFINITION.findall(line):
                    self._by_name.setdefault(name, []).append(number)
        self._taken: dict[str, int] = {}
        self._path: tuple[str, ...] = ()
        self._last = 1

    def line_of(self, path: tuple[str, ...]) -> int:
        while path and path[-1].isdigit():
            path = path[:-1]  # what is in a list stands where the list does
        if path and path != self._path:
            lines, taken = self._by_name.get(path[-1], []), self._taken.get(path[-1], 0)
            index = max(taken, bisect_left(lines, self._last))
            if index < len(lines):
                self._last = lines[index]
                self._taken[path[-1]] = index + 1
        self._path = path
        return self._last
