"""`instride.save` and `instride.load`, which stand in for `torch.save` and `torch.load`."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from instride.saver.engine import Engine, Purpose
from instride.saver.loading import load_file
from instride.saver.pending import Pending
from instride.store.retention import Keep

_lock = threading.Lock()
_engine: Engine | None = None
_pending: dict[Path, Pending] = {}


def save(obj: object, path: str | Path) -> Pending:
    """Save like `torch.save`, without the wait: the file is committed in the background, at the
    exit of the program at the latest."""
    global _engine
    where = Path(path).absolute()
    with _lock:
        if _engine is None:
            _engine = Engine(None, Keep())
        for done in [each for each, pending in _pending.items() if pending.done]:
            del _pending[done]
        pending = _engine.save(obj, Purpose(where), detached=False)
        _pending[where] = pending
        return pending


def load(path: str | Path, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Load like `torch.load`, from a pack too; a save of that path that is on its way is waited
    for."""
    where = Path(path).absolute()
    pending = _pending.get(where)
    if pending is not None:
        pending.wait()
    return load_file(where, map_location, weights_only=weights_only)
