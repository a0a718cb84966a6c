"""instride finds out why training steps are slow, and makes saving a checkpoint cost nothing."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instride.saver.functions import load as load
    from instride.saver.functions import save as save
    from instride.saver.pending import Pending as Pending
    from instride.saver.pending import SavedCheckpoint as SavedCheckpoint
    from instride.saver.saver import Saver as Saver
    from instride.store.retention import Keep as Keep

__version__ = "0.1.0"

_HOMES = {
    "Keep": "instride.store.retention",
    "Pending": "instride.saver.pending",
    "SavedCheckpoint": "instride.saver.pending",
    "Saver": "instride.saver.saver",
    "load": "instride.saver.functions",
    "save": "instride.saver.functions",
}
__all__ = ["Keep", "Pending", "SavedCheckpoint", "Saver", "__version__", "load", "save"]


def __getattr__(name: str) -> object:
    """Names that need torch load it when they are touched, and not before."""
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module `instride` has no attribute `{name}`") from None
    return getattr(importlib.import_module(home), name)
