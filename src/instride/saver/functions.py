"""`instride.save` and `instride.load`, which stand in for `torch.save` and `torch.load`."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from instride.errors import InstrideError
from instride.saver.arguments import file_of
from instride.saver.choosing import Engine, engine_for
from instride.saver.loading import load_file
from instride.saver.options import Options
from instride.saver.pending import Pending, Purpose
from instride.saver.telling import Telling

_lock = threading.RLock()
"""A signal handler may save while the same thread saves: the engine refuses it, and says so."""
_engine: Engine | None = None
_engines_of_parents: list[Engine] = []
"""What a forked child has inherited: to drop it would be to look after processes of others."""
_pending: dict[Path, Pending] = {}
_telling = Telling()


def save(obj: object, path: str | Path) -> Pending:
    """Save like `torch.save`, without the wait: the file is committed in the background, at the
    exit of the program at the latest."""
    where = file_of(path)
    with _lock:
        for each, earlier in list(_pending.items()):
            if earlier.done:
                _pending.pop(each, None)
        try:
            pending = _engine_now().save(obj, Purpose(where), detached=False)
        except InstrideError as error:
            pending = Pending(where, None)
            pending.fail(error)
            _telling.of(error)
        _pending.pop(where, None)
        _pending[where] = pending  # as the last of them
        return pending


def _engine_now() -> Engine:
    """At the end of the program the one that was there may be closed before the last save."""
    global _engine
    if _engine is None or _engine.is_closed:
        _engine = engine_for(None, Options())
    return _engine


def load(path: str | Path, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Load like `torch.load`, from a pack too; a save of that path that is on its way is waited
    for."""
    where = file_of(path)
    file = os.path.realpath(where)
    for each, pending in reversed(list(_pending.items())):
        if os.path.realpath(each) == file:
            pending.wait()
            break  # those before it are done
    return load_file(where, map_location, weights_only=weights_only)


def _start_anew() -> None:
    """In a forked child: it saves by itself, through a writer of its own."""
    global _lock, _engine
    _lock = threading.RLock()  # another thread may have held it
    _pending.clear()
    if _engine is not None:
        _engines_of_parents.append(_engine)
        _engine = None


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_start_anew)
