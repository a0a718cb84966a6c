"""What trainer and writer say to each other: typed messages, framed, over a pair of sockets.

A frame is four bytes of length (little-endian) and a MessagePack array that begins with the tag
of the message. Descriptors travel beside the frame that announces them.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from types import UnionType

import msgspec

from instride.store.retention import Keep

VERSION = 6
LENGTH = struct.Struct("<I")
MOST_BYTES = (1 << 32) - 1
CHUNK_BYTES = 1 << 16
MOST_DESCRIPTORS = 8


class Hello(msgspec.Struct, tag="hello", array_like=True, frozen=True):
    """The first message: who asks, and for which store. Descriptors: the shared
    page, and the files of the arena."""

    version: int
    trainer_pid: int
    trainer_started: int
    directory: str | None
    """None: no store, only single files, which are neither locked nor retained."""
    keep: Keep
    packs: bool = False
    """What is committed is to be packed."""
    budget: float | None = None
    """Share of step time that the work may cost; None: nobody governs it."""


class Begin(msgspec.Struct, tag="begin", array_like=True, frozen=True):
    """A snapshot is in the arena, on its way there, or about to stream through it."""

    id: int
    path: str
    sizes: list[int] | None
    """Of the storages. None: the arena holds a whole file that `torch.save` made."""
    image_bytes: int
    """Up to the end of the storages, or of the whole file."""
    arena_bytes: int
    streams: bool
    """Pieces come one after the other through an arena that is smaller than the image."""
    arrives: bool = False
    """Pieces come one after the other, each to its own place in the arena."""


class Finish(msgspec.Struct, tag="finish", array_like=True, frozen=True):
    """What comes behind the storages. From here on the snapshot survives the trainer."""

    id: int
    small: dict[str, bytes]
    step: int | None
    metric: float | None
    unsafe: list[str]
    versions: dict[str, str]
    created_s: float
    called_s: float
    """When `save()` was called, by the monotonic clock that processes share."""
    staged_s: float
    """When this was sent, by the same clock."""
    call_s: float
    waited_s: float


class Cancel(msgspec.Struct, tag="cancel", array_like=True, frozen=True):
    id: int


class Hurry(msgspec.Struct, tag="hurry", array_like=True, frozen=True):
    """Somebody waits for that save: no more yielding until it is committed. It may
    come when it is, and is for nothing then: the one that comes next is to yield."""

    id: int


class Close(msgspec.Struct, tag="close", array_like=True, frozen=True):
    """Nothing more will come: finish what is under way, without yielding, and leave."""


class Ready(msgspec.Struct, tag="ready", array_like=True, frozen=True):
    writer_pid: int
    directory_problem: str | None
    """Why nothing can be written there now; saves will fail with it."""


class Waiting(msgspec.Struct, tag="waiting", array_like=True, frozen=True):
    """Another writer is finishing for a trainer that is gone."""

    writer_pid: int


class Refused(msgspec.Struct, tag="refused", array_like=True, frozen=True):
    """The store belongs to a trainer that runs, or to an agent."""

    host: str
    trainer_pid: int
    is_agent: bool = False


class Committed(msgspec.Struct, tag="committed", array_like=True, frozen=True):
    id: int
    path: str
    size_bytes: int
    staged_s: float
    durable_s: float


class Failed(msgspec.Struct, tag="failed", array_like=True, frozen=True):
    id: int
    path: str
    why: str
    errno: int | None


class Notice(msgspec.Struct, tag="notice", array_like=True, frozen=True):
    """Something the person should know; sent once each."""

    id: str
    text: str
    hint: str


class Blocked(msgspec.Struct, tag="blocked", array_like=True, frozen=True):
    """A save waits for space; training must not wait for it."""

    id: int
    is_blocked: bool


ToWriter = Hello | Begin | Finish | Cancel | Hurry | Close
ToTrainer = Ready | Waiting | Refused | Committed | Failed | Notice | Blocked


_encode = msgspec.msgpack.Encoder().encode


def frame_of(message: ToWriter | ToTrainer) -> bytes:
    """Raises ValueError for what does not fit into a frame."""
    body = _encode(message)
    if len(body) > MOST_BYTES:
        raise ValueError(
            f"{len(body) >> 20} MiB beside the tensors, of which {MOST_BYTES >> 20} can be sent"
        )
    return LENGTH.pack(len(body)) + body


class Wire:
    """One end of the pair."""

    def __init__(self, end: socket.socket, receives: UnionType) -> None:
        self.socket = end
        self._decode = msgspec.msgpack.Decoder(receives).decode
        self._buffer = bytearray()
        self.descriptors: list[int] = []
        """Received and not yet taken."""

    def send(self, message: ToWriter | ToTrainer, descriptors: list[int] | None = None) -> None:
        """Send a message whole; OSError if the other end is gone."""
        self.send_frame(frame_of(message), descriptors)

    def send_frame(self, frame: bytes, descriptors: list[int] | None = None) -> None:
        if descriptors:
            sent = socket.send_fds(self.socket, [frame[:1]], descriptors)
            frame = frame[sent:]
        self.socket.sendall(frame)

    def receive(self) -> ToWriter | ToTrainer | None:
        """Wait for a message; None when the other end is gone."""
        while (message := self._next()) is None:
            if not self._read_more():
                return None
        return message

    def has_message(self) -> bool:
        """Whether one has come with those before: the socket need not become readable again."""
        if len(self._buffer) < LENGTH.size:
            return False
        (length,) = LENGTH.unpack_from(self._buffer)
        return len(self._buffer) >= LENGTH.size + int(length)

    def read_ready(self) -> bool:
        """Take in some of what has come, without waiting; False if nothing has. No descriptors.

        Raises EOFError when the other end is gone.
        """
        try:
            data = self.socket.recv(CHUNK_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        if not data:
            raise EOFError
        self._buffer += data
        return True

    def taken_in(self) -> Iterator[ToWriter | ToTrainer]:
        """The messages that have come in whole."""
        while (message := self._next()) is not None:
            yield message

    def _read_more(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(self.socket, CHUNK_BYTES, MOST_DESCRIPTORS)
        except ConnectionError:
            return False
        self.descriptors += descriptors
        self._buffer += data
        return bool(data)

    def _next(self) -> ToWriter | ToTrainer | None:
        if not self.has_message():
            return None
        (length,) = LENGTH.unpack_from(self._buffer)
        end = LENGTH.size + length
        message = self._decode(bytes(self._buffer[LENGTH.size : end]))
        del self._buffer[:end]
        return message  # type: ignore[no-any-return]

    def close(self) -> None:
        self.socket.close()
