"""Keys of a configuration that nothing reads, that have a twin, or that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from instride.doctor.model import Certainty, Fact, Finding
from instride.doctor.repository import ConfigFile, Entry, Repository
from instride.doctor.repository.configs import Value
from instride.doctor.repository.files import TextFile
from instride.doctor.request import Request
from instride.doctor.rules.config_files import own_entries, training_configs
from instride.doctor.rules.config_handed_on import handed_on
from instride.doctor.rules.config_reads import Read, Reads, reads
from instride.doctor.rules.contradictions import contradictions
from instride.doctor.rules.key_fixes import joined, renamed, without
from instride.doctor.rules.near_names import is_misspelt, means_the_same, normal
from instride.doctor.rules.remembering import once

NOTES = {
    "name", "description", "comment", "comments", "note", "notes", "version", "author", "tags",
    "doc", "docs", "title", "experiment", "project", "date", "id", "help", "url", "reference",
}  # fmt: skip
"""Keys for people."""
REFERENCE = re.compile(r"\$\{([^}]*)\}")
KEY = re.compile(r"\w+")


class Setting(msgspec.Struct, frozen=True, eq=False):
    """A value, and the line that gives it."""

    value: Value
    file: TextFile
    line: int

    @property
    def place(self) -> str:
        return f"{self.file.path}:{self.line}"


class Twin(msgspec.Struct, frozen=True, eq=False):
    name: str
    read: Read
    setting: Setting


class Unread(msgspec.Struct, frozen=True, eq=False):
    """A key that nothing reads, and the name that the code reads instead, if there is one."""

    config: ConfigFile
    entry: Entry
    twin: Twin | None = None
    certainty: Certainty = Certainty.LIKELY

    @property
    def place(self) -> str:
        return f"{self.config.path}:{self.entry.line}"


@once
def unread(repository: Repository) -> list[Unread]:
    found = []
    for config in training_configs(repository):
        known, unseen = reads(repository), handed_on(repository)
        for entry in own_entries(config):
            if _is_note(entry) or entry.key in _referred_to(repository):
                continue
            if known.has(entry.key) or unseen.covers(entry.path[:-1]):
                continue
            key = _with_twin(config, entry, known)
            found.append(
                msgspec.structs.replace(key, certainty=Certainty.PERHAPS) if unseen.whole else key
            )
    return found


@once
def _referred_to(repository: Repository) -> set[str]:
    """Keys that a configuration takes from another: `${data.batch_size}`."""
    return {
        key
        for config in repository.configs
        if "${" in config.text
        for reference in REFERENCE.findall(config.text)
        for key in KEY.findall(reference)
    }


def _is_note(entry: Entry) -> bool:
    return entry.key.startswith("_") or entry.key.lower() in NOTES


def _with_twin(config: ConfigFile, entry: Entry, known: Reads) -> Unread:
    keys = {normal(each.key): each for each in own_entries(config)}
    name = normal(entry.key)
    asked = known.of_config(name)
    twins = [each for each in asked if means_the_same(name, each)]
    # A name that is set beside it is another name, and no misspelling of it.
    twins += [each for each in asked if is_misspelt(name, each) and each not in keys]
    for twin in twins:
        setting = _setting(config, keys.get(twin), known, twin)
        if setting is not None and _differ(setting.value, entry.value):
            return Unread(config, entry, Twin(twin, asked[twin], setting))
    return Unread(config, entry)


def _differ(one: Value, other: Value) -> bool:
    """Whether two values of one kind differ; a switch and a number do not mean the same."""
    if isinstance(one, bool) or isinstance(other, bool):
        return type(one) is type(other) and one != other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one != other
    return isinstance(one, str) and isinstance(other, str) and one != other


def _setting(config: ConfigFile, entry: Entry | None, known: Reads, name: str) -> Setting | None:
    """In the same file, or else as the code has it by default."""
    if entry is not None:
        return Setting(entry.value, config, entry.line)
    default = known.default(name)
    return Setting(default.value, default.file, default.line) if default is not None else None


def twin_keys(repository: Repository, request: Request) -> Iterator[Finding]:
    for key in unread(repository):
        if key.twin is None:
            continue
        read, setting = key.twin.read, key.twin.setting
        evidence = [key.config.place(key.entry.line), read.file.place(read.line)]
        if (setting.file.path, setting.line) != (read.file.path, read.line):
            evidence.append(setting.file.place(setting.line))
        fix = (
            joined(key.config, key.entry, setting.line)
            if setting.file is key.config
            else renamed(key.config, key.entry, key.twin.name)
        )
        facts: dict[str, Fact] = {
            "key": key.entry.key,
            "value": shown(key.entry.value),
            "place": key.place,
            "read": key.twin.name,
            "read_place": f"{read.file.path}:{read.line}",
            "read_value": shown(setting.value),
            "set_place": setting.place,
        }
        yield Finding("twin-keys", facts, tuple(evidence), key.certainty, fixes=(fix,))


def unused_key(repository: Repository, request: Request) -> Iterator[Finding]:
    for key in unread(repository):
        # A name that any file mentions may be read in a way that is not known here.
        name = normal(key.entry.key)
        is_mentioned = name in repository.words or any(
            script.mentions(name) for script in repository.scripts
        )
        if key.twin is None and not is_mentioned and key.certainty is Certainty.LIKELY:
            yield Finding(
                "unused-key",
                {"key": ".".join(key.entry.path), "place": key.place},
                (key.config.place(key.entry.line),),
                key.certainty,
                fixes=(without(key.config, key.entry),),
            )


def contradicting_values(repository: Repository, request: Request) -> Iterator[Finding]:
    for each in contradictions(repository):
        facts: dict[str, Fact] = {
            "key": each.key,
            "value": shown(each.value),
            "place": f"{each.file.path}:{each.line}",
            "other": each.other_key,
            "other_value": shown(each.other_value),
            "other_place": f"{each.other_file.path}:{each.other_line}",
        }
        evidence = (each.file.place(each.line), each.other_file.place(each.other_line))
        yield Finding("contradicting-values", facts, evidence, each.certainty, fixes=(each.fix,))


def shown(value: Value) -> str:
    """A value as a configuration would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
