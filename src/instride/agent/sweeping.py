"""What an agent that was killed left in a directory; only its next owner may ask."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from instride.agent.looking import is_meant
from instride.agent.wholeness import writers
from instride.store.directory import FORMS, MANIFEST_NAME
from instride.store.manifest import PRIVATE

TEMPORARY = re.compile(rf"\.(.+)\.(?:{'|'.join(FORMS)})\.[0-9a-f]{{8}}\.tmp")
OWN = re.compile(r"\.agent(?:-status)?\.json\.[0-9a-f]{8}\.tmp")
MANIFEST_TEMPORARY = re.compile(rf"\.{MANIFEST_NAME.pattern}\.[0-9a-f]{{8}}\.tmp")


def sweep(directory: Path, pattern: str) -> list[str]:
    """Delete unfinished files, and manifests whose file never got its name; the files' names."""
    private = directory / PRIVATE
    unfinished = [
        path
        for path in directory.iterdir()
        if (match := TEMPORARY.fullmatch(path.name)) and is_meant(match[1], pattern)
    ]
    at_work = writers(unfinished)  # `instride pack` asks nobody before it begins
    swept = []
    for path in unfinished:
        if not at_work.of(path):
            with suppress(OSError):
                path.unlink()
                swept.append(path.name)
    for path in private.iterdir():
        if OWN.fullmatch(path.name):
            path.unlink(missing_ok=True)
    _sweep_manifests(directory, private / "manifests", pattern)
    return swept


def _sweep_manifests(directory: Path, manifests: Path, pattern: str) -> None:
    for path in manifests.iterdir() if manifests.is_dir() else ():
        if match := MANIFEST_NAME.fullmatch(path.name):
            named = directory / match[1]
            if is_meant(named.stem, pattern) and not named.exists():
                path.unlink(missing_ok=True)
        elif MANIFEST_TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)
