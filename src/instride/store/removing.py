"""Deleting a checkpoint: the only place that does, for the writer and for people."""

from __future__ import annotations

from pathlib import Path

from instride.store.atomic import sync_directory
from instride.store.manifest import manifests_of


def remove(checkpoint: Path) -> None:
    """Delete a file, then its manifests: a final name always has a manifest."""
    checkpoint.unlink(missing_ok=True)
    sync_directory(checkpoint.parent)
    for manifest in manifests_of(checkpoint):
        manifest.unlink(missing_ok=True)
