"""What an agent that was killed left in a directory; only its next owner may ask."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from instride.agent.looking import is_meant
from instride.agent.wholeness import writers
from instride.store.directory import FORMS, MANIFEST_NAME
from instride.store.manifest import PRIVATE
from instride.store.presence import is_gone

TEMPORARY = re.compile(rf"\.(.+)\.(?:{'|'.join(FORMS)})\.[0-9a-f]{{8}}\.tmp")
OWN = re.compile(r"\.agent(?:-status)?\.json\.[0-9a-f]{8}\.tmp")
MANIFEST_TEMPORARY = re.compile(rf"\.{MANIFEST_NAME.pattern}\.[0-9a-f]{{8}}\.tmp")


def sweep(directory: Path, pattern: str) -> list[str]:
    """Delete unfinished files, and manifests whose file never got its name; the files' names. What
    cannot be looked at stays: the look that follows will tell."""
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
        with suppress(OSError):
            if _is_stray(path, directory, pattern):
                path.unlink()


def _is_stray(manifest: Path, directory: Path, pattern: str) -> bool:
    """Raises OSError where that cannot be told."""
    match = MANIFEST_NAME.fullmatch(manifest.name)
    if match is None:
        return MANIFEST_TEMPORARY.fullmatch(manifest.name) is not None
    named = directory / match[1]
    return is_meant(named.stem, pattern) and is_gone(named)
