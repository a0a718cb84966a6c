"""What the agent of a directory does: the answer of `instride agent status` (schema 1).

The agent leaves a small file about now; what it did before is in the journal.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Literal

import msgspec

from instride.errors import NoAgentError
from instride.places import PRIVATE
from instride.store.atomic import write_whole
from instride.store.journal import journal_path
from instride.store.listing import OwnerEntry, owner_of
from instride.store.lock import Owner, holder_of, started_at

SCHEMA = 1
FILE = "agent-status.json"
NUM_RECENT = 8
Doing = Literal["looking", "compressing", "waiting", "stopped"]


class CostEntry(msgspec.Struct, frozen=True):
    """What the work cost the training, as the governor measured it."""

    share: float | None
    """Of the step time, while it went on; null where that cannot be told."""
    plus_minus: float | None
    """Half of a 95 % interval around it."""
    seconds: float
    """How long work went on."""
    text: str
    """The same in a sentence."""


class Live(msgspec.Struct, frozen=True):
    """What an agent says of itself, in a file of the directory."""

    host: str
    pid: int
    started: int
    """In clock ticks since boot."""
    since_s: float
    """Seconds since 1970."""
    updated_s: float
    doing: Doing
    file: str | None
    """What it works on."""
    done_bytes: int
    total_bytes: int
    why: str
    """Why it does that, or waits."""
    pattern: str
    format: str | None
    """Null: it does not compress."""
    keep: int | None
    removes_original: bool
    others_prune: bool
    """Files vanished that the agent did not delete: it deletes only what it made itself."""
    cost: CostEntry | None


class Totals(msgspec.Struct, frozen=True):
    """From the journal, of every agent that worked here."""

    num_compressed: int = 0
    original_bytes: int = 0
    compressed_bytes: int = 0
    num_deleted: int = 0
    deleted_bytes: int = 0

    @property
    def saved_bytes(self) -> int:
        return self.original_bytes - self.compressed_bytes


class Happened(msgspec.Struct, frozen=True):
    t: float
    """Seconds since 1970."""
    text: str


class Status(msgspec.Struct, frozen=True):
    """What `instride agent status --json` prints."""

    schema: int
    directory: str
    is_running: bool | None
    """Null: it is on another machine, where it cannot be told."""
    now: Live | None
    """As the agent last said it; null if none ever did."""
    totals: Totals
    saved_bytes: int
    """What originals and their smaller forms differ by."""
    recent: list[Happened]
    """The last decisions, oldest first."""
    owner: OwnerEntry | None
    """Who owns the directory: the agent, or a training."""


class _Line(msgspec.Struct, frozen=True):
    t: float
    kind: str
    text: str = ""
    bytes: int = 0
    original_bytes: int = 0


def write_live(directory: Path, live: Live) -> None:
    """Say what is done now; it need not survive a power cut. Raises OSError."""
    path = directory / PRIVATE / FILE
    write_whole(path, msgspec.json.encode(live), is_durable=False)


def read_status(directory: Path) -> Status:
    """Raises NoAgentError where no agent ever was."""
    live = _read_live(directory)
    totals, recent = _read_journal(directory)
    if live is None and not recent:
        raise NoAgentError(str(directory))
    return Status(
        schema=SCHEMA,
        directory=str(directory),
        is_running=_is_running(holder_of(directory)),
        now=live,
        totals=totals,
        saved_bytes=totals.saved_bytes,
        recent=recent,
        owner=owner_of(directory),
    )


def _is_running(holder: Owner | None) -> bool | None:
    """By the lock: what the agent says of itself may be older than itself."""
    if holder is None or not holder.is_agent:
        return False
    return holder.is_alive if holder.host == socket.gethostname() else None


def _read_live(directory: Path) -> Live | None:
    try:
        raw = (directory / PRIVATE / FILE).read_bytes()
        return msgspec.json.decode(raw, type=Live)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _read_journal(directory: Path) -> tuple[Totals, list[Happened]]:
    """Sums and the last lines; a journal may hold millions of steps, which are skipped."""
    decoder = msgspec.json.Decoder(_Line)
    sums = dict.fromkeys(Totals.__struct_fields__, 0)
    recent: list[Happened] = []
    try:
        with journal_path(directory).open("rb") as journal:
            for raw in journal:
                if b'"kind":"agent-' not in raw:
                    continue
                try:
                    line = decoder.decode(raw)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue  # cut off by a crash
                _add(sums, line)
                if line.text:
                    recent = [*recent[-NUM_RECENT + 1 :], Happened(line.t, line.text)]
    except OSError:
        pass
    return Totals(**sums), recent


def _add(sums: dict[str, int], line: _Line) -> None:
    if line.kind == "agent-compressed":
        sums["num_compressed"] += 1
        sums["original_bytes"] += line.original_bytes
        sums["compressed_bytes"] += line.bytes
    elif line.kind == "agent-deleted":
        sums["num_deleted"] += 1
        sums["deleted_bytes"] += line.bytes


def live_now(since_s: float, **facts: object) -> Live:
    """What this process does."""
    pid = os.getpid()
    return Live(
        host=socket.gethostname(),
        pid=pid,
        started=started_at(pid) or 0,
        since_s=since_s,
        updated_s=time.time(),
        **facts,  # type: ignore[arg-type]
    )
