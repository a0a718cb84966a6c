"""Which engine takes snapshots here: in the background where that is possible."""

from __future__ import annotations

import platform
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from instride.saver.leaving import is_exiting
from instride.saver.options import Options
from instride.saver.pending import Pending, Purpose
from instride.system import background
from instride.writer.page import SharedPage

if TYPE_CHECKING:
    from instride.errors import InstrideError
    from instride.snapshot.late import Promise


class Stepped(Protocol):
    """As much of an engine as whoever sees training step has to do with.

    `follow` tells it what may be copied late, and `fence` is called before that changes; as long as
    it `is_late`, somebody must. `give_way` is called between two steps, and `mark_step` once in
    each, when it has been launched.
    """

    page: SharedPage

    @property
    def is_late(self) -> bool: ...

    def follow(self, promises: Callable[[], Promise], has_stepped: Callable[[], bool]) -> None: ...

    def fence(self) -> None: ...

    def give_way(self) -> None: ...

    def mark_step(self) -> None: ...


class Awaited(Protocol):
    """As much of it as whoever restores has to do with.

    `await_store` tells whether the store is ours by now, and raises why it will not be; `waits_for`
    is the pid of a writer that has it until then. `await_saved` waits for what was saved last, and
    tells why it is not committed. While it is `resting` it gets no memory ready beside what is
    waited for.
    """

    @property
    def waits_for(self) -> int | None: ...

    def await_store(self, timeout: float) -> bool: ...

    def await_saved(self) -> InstrideError | None: ...

    def resting(self) -> AbstractContextManager[None]: ...

    def fence(self) -> None: ...

    def warn_once(self, kind: str, text: str) -> None: ...


class Engine(Stepped, Awaited, Protocol):
    """Takes snapshots of one training, one after the other; `problem` is why none can be
    written."""

    @property
    def is_closed(self) -> bool: ...

    @property
    def problem(self) -> str | None: ...

    @property
    def prepare_cost_s(self) -> float: ...

    def prepare(self, tree: object, *, detached: bool) -> None: ...

    def await_prepared(self, timeout: float) -> None: ...

    def save(self, tree: object, purpose: Purpose, *, detached: bool) -> Pending: ...

    def close(self) -> InstrideError | None: ...


def engine_for(directory: Path | None, options: Options) -> Engine:
    """What is not possible is not loaded either. Raises StoreInUseError where training waits for
    saves, and has nobody to wait for the store."""
    if not background.is_possible():
        engine = _in_the_call(directory, options)
        engine.warn_once(
            "synchronous",
            f"{platform.system()} lacks what saving in the background needs: training waits until "
            f"a save is on the disk{', and nothing is packed' if options.packs else ''}",
        )
        return engine
    if is_exiting() and not background.can_start_threads():
        return _in_the_call(directory, options)  # nothing is left that would wait for it
    from instride.saver.engine import BackgroundEngine

    return BackgroundEngine(directory, options)


def _in_the_call(directory: Path | None, options: Options) -> Engine:
    from instride.saver.synchronous import SynchronousEngine

    return SynchronousEngine(directory, options)
