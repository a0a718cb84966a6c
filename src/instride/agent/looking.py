"""What lies in a directory now: the only truth there is; events are at most a reason to look."""

from __future__ import annotations

import fnmatch
import os
import stat
from pathlib import Path

import msgspec

from instride.agent.naming import Place, place_of
from instride.agent.wholeness import Identity
from instride.store.directory import FORMS
from instride.store.manifest import Manifest, read_manifest

UNFINISHED = (".tmp", ".temp", ".part", ".partial", ".incomplete", "~")
"""How names end that nobody has given for good."""


class Original(msgspec.Struct, frozen=True):
    """A file that a script wrote."""

    path: Path
    identity: Identity
    place: Place | None

    def is_still_there(self) -> bool:
        """Whether it is the same file as when it was looked at."""
        try:
            return Identity.of(self.path.stat()) == self.identity
        except OSError:
            return False


class Form(msgspec.Struct, frozen=True):
    """A committed file that was made of an original; as old as that is."""

    path: Path
    identity: Identity
    manifest: Manifest

    def is_made_of(self, original: Identity) -> bool:
        """Whether that is the original as it lies there now."""
        theirs = self.manifest.original_bytes, self.identity.mtime_ns
        return theirs == (original.size_bytes, original.mtime_ns)


class Look(msgspec.Struct, frozen=True):
    originals: dict[str, Original]
    """By name."""
    forms: dict[str, list[Form]]
    """By the name of the original."""
    links: frozenset[str]
    """Names that symbolic links in the directory point to."""
    others: frozenset[str]
    """Every other name."""


class Looking:
    """Looks at one directory again and again, and reads no manifest twice."""

    def __init__(self, directory: Path, pattern: str) -> None:
        self._directory = directory
        self._pattern = pattern
        self._manifests: dict[tuple[str, Identity], Manifest | None] = {}

    def look(self) -> Look:
        """Raises OSError if the directory cannot be looked at."""
        originals: dict[str, Original] = {}
        forms: dict[str, list[Form]] = {}
        links, others = set(), set()
        with os.scandir(self._directory) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                name, path = entry.name, self._directory / entry.name
                try:
                    if entry.is_symlink():
                        links.add(path.readlink().name)
                        continue
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # deleted while we looked
                identity = Identity.of(status)
                if not stat.S_ISREG(status.st_mode):
                    others.add(name)
                elif is_meant(name, self._pattern):
                    originals[name] = Original(path, identity, place_of(name))
                elif manifest := self._manifest_of(path, identity):
                    forms.setdefault(path.stem, []).append(Form(path, identity, manifest))
                else:
                    others.add(name)
        return Look(originals, forms, frozenset(links), frozenset(others))

    def _manifest_of(self, path: Path, identity: Identity) -> Manifest | None:
        """That of a committed file that was made of an original of ours."""
        if path.suffix[1:] not in FORMS or not is_meant(path.stem, self._pattern):
            return None
        key = path.name, identity
        if self._manifests.get(key) is None:  # one that is missing may come yet
            manifest = read_manifest(path)
            is_whole = manifest is not None and manifest.size_bytes == identity.size_bytes
            self._manifests[key] = manifest if is_whole else None
        return self._manifests[key]


def is_meant(name: str, pattern: str) -> bool:
    """Whether a name is that of a script's checkpoint: hidden and unfinished files never are, nor
    names that are no text, which neither a manifest nor a journal could hold."""
    is_made = name.rpartition(".")[2] in FORMS
    is_hidden = name.startswith(".") or name.endswith(UNFINISHED)
    is_text = not any("\udc80" <= letter <= "\udcff" for letter in name)
    return not is_made and not is_hidden and is_text and fnmatch.fnmatchcase(name, pattern)
