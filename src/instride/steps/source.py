"""Where lines come from: files, pipes, compressed files, UTF-16, in bounded memory.

A line is counted by its line feed, as an editor does. Carriage returns cut a line into pieces that
share its number: that is how progress bars overwrite themselves.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, cast

from instride.errors import BinaryLogError, EmptyLogError, UnreadableLogError
from instride.reasons import Reason

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK_BYTES = 1 << 18
"""Small enough that what is made of a block stays in the processor's cache."""
LONGEST_LINE_BYTES = 64 << 20
"""A line longer than this (no line feed, no carriage return) is cut: memory stays bounded."""
ESCAPE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\r\n]*(?:\x07|\x1b\\)?|[ -/]{0,2}[0-Z\\^-~])"
)
"""Colours, window titles, character sets; none goes on past the end of its line."""
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
IN_MEMORY_BYTES = 16 << 20
"""Of a pipe; the rest is kept on disk."""


class Source:
    """One log. It can be read several times; a pipe is kept in a temporary file for that."""

    def __init__(self, path: str, name: str | None = None) -> None:
        self.name = "".join(c if c.isprintable() else "?" for c in name or path)
        """What people call it, fit for any terminal."""
        self.is_truncated = False
        """Set when a compressed file ended in the middle, or is damaged there."""
        self._path = path
        self._spool: IO[bytes] | None = None
        try:
            self._keep_pipe()
        except UnreadableLogError:
            raise
        except OSError as error:
            raise UnreadableLogError(self.name, Reason.of(error)) from error

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (line number, text) for every piece of every line, without colours."""
        for number, text in self.blocks():
            yield from pieces(number, text)

    def blocks(self) -> Iterator[tuple[int, str]]:
        """Yield many lines at once, with the number of the first one.

        A line that carriage returns cut into pieces may go on in the next block.
        """
        number = 1
        for block in self._blocks():
            text = block.decode("utf-8", "replace")
            if "\r\n" in text:
                text = text.replace("\r\n", "\n")
            yield number, text
            number += text.count("\n")

    def texts(self, numbers: Iterable[int], before: int = 0, longest: int = 400) -> dict[int, str]:
        """The lines with these numbers, cut to `longest` characters: the evidence.

        `before` is how many lines are counted before the first one of this log.
        """
        wanted = sorted(numbers, reverse=True)
        found: dict[int, str] = {}
        open_line = b""
        number = 1 + before
        for block in self._blocks():
            if not wanted:
                break
            after = number + block.count(b"\n")
            pieces = block.split(b"\n") if wanted[-1] <= after else []
            while wanted and wanted[-1] <= after:
                line = wanted[-1]
                # No character has more than four bytes.
                shown = _last_overwrite(open_line + pieces[line - number], 4 * longest)
                if text := _printable(shown)[:longest]:
                    found[line] = text
                if line == after:
                    # It may go on in the next block.
                    open_line = shown
                    break
                open_line = b""
                while wanted and wanted[-1] == line:
                    wanted.pop()
            number = after
        return found

    def _blocks(self) -> Iterator[bytes]:
        """UTF-8 without colours, cut at line feeds, or at carriage returns in endless lines."""
        rest = b""
        for block in self._utf8():
            block = rest + block
            cut = max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - 1)) + 1
            if not cut and len(block) < LONGEST_LINE_BYTES:
                rest = block
                continue
            rest = block[cut:] if cut else b""
            block = block[:cut] if cut else block
            yield ESCAPE.sub(b"", block) if b"\x1b" in block else block
        if rest:
            yield ESCAPE.sub(b"", rest) if b"\x1b" in rest else rest

    def _utf8(self) -> Iterator[bytes]:
        try:
            with self._open() as stream:
                yield from self._decoded(stream)
        except UnreadableLogError:
            raise
        except OSError as error:
            raise UnreadableLogError(self.name, Reason.of(error)) from error

    def _decoded(self, stream: io.BufferedIOBase) -> Iterator[bytes]:
        pieces = self._pieces(stream)
        first = next(pieces, b"")
        encoding = _utf16(first)
        if encoding is None:
            first = first.removeprefix(codecs.BOM_UTF8)
        if not first and self.is_truncated:
            raise UnreadableLogError(self.name, Reason("damaged"))
        if not first:
            raise EmptyLogError(self.name)
        if encoding is None and b"\0" in first[:4096]:
            raise BinaryLogError(self.name)
        decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
        for piece in chain((first,), pieces):
            yield decoder.decode(piece).lstrip("\ufeff").encode() if decoder else piece

    def _pieces(self, stream: io.BufferedIOBase) -> Iterator[bytes]:
        """The bytes of a stream; of a damaged one all that can still be had."""
        try:
            # Unlike `read`, it gives back what came before an error.
            while piece := stream.read1(CHUNK_BYTES):
                yield piece
        except (EOFError, zlib.error, gzip.BadGzipFile, zstd.ZstdError):
            self.is_truncated = True

    @contextmanager
    def _open(self) -> Iterator[io.BufferedIOBase]:
        if self._spool is not None:
            yield _unpacked(self._spool)
        else:
            with Path(self._path).open("rb") as raw:
                yield _unpacked(raw)

    def _keep_pipe(self) -> None:
        """Copy what can be read only once: standard input, or the shell's `<(command)`."""
        if self._path == "-":
            if sys.stdin is None:
                raise UnreadableLogError(self.name, Reason("closed-input"))
            self._keep(sys.stdin.buffer)
        elif Path(self._path).is_fifo():
            with Path(self._path).open("rb") as pipe:
                self._keep(pipe)

    def _keep(self, pipe: IO[bytes]) -> None:
        self._spool = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115
        # It is read as long as anybody has the source, which evidence may be asked of at the end.
        weakref.finalize(self, self._spool.close)
        while block := pipe.read(CHUNK_BYTES):
            self._spool.write(block)


def pieces(number: int, text: str) -> Iterator[tuple[int, str]]:
    """The pieces of lines in a text that begins in line `number`."""
    lines = text.split("\n")
    last = lines.pop()
    if "\r" in text:
        for line in lines:
            for piece in line.split("\r"):
                yield number, piece
            number += 1
    else:
        for line in lines:
            yield number, line
            number += 1
    for piece in last.split("\r") if last else ():
        yield number, piece


def _unpacked(raw: IO[bytes]) -> io.BufferedIOBase:
    raw.seek(0)
    magic = raw.read(4)
    raw.seek(0)
    if magic.startswith(GZIP):
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if magic == ZSTD:
        return cast("io.BufferedIOBase", zstd.ZstdFile(raw))
    return cast("io.BufferedIOBase", raw)


def _utf16(first: bytes) -> str | None:
    """The UTF-16 flavour of a text: by its mark, or by the zeros in every second byte."""
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16-le" if first.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    sample = first[:2000]
    if len(sample) < 8:
        return None
    odd, even = sample[1::2].count(0), sample[::2].count(0)
    if odd > 0.6 * len(sample) / 2 and even == 0:
        return "utf-16-le"
    if even > 0.6 * len(sample) / 2 and odd == 0:
        return "utf-16-be"
    return None


def _last_overwrite(line: bytes, longest_bytes: int) -> bytes:
    """What a terminal would show of a line with carriage returns: the last piece with text.

    A carriage return at the end is kept: what follows it, in the next block, overwrites the piece.
    """
    text = line.rstrip()
    is_overwritten = b"\r" in line[len(text) :]
    return text[text.rfind(b"\r") + 1 :][:longest_bytes] + (b"\r" if is_overwritten else b"")


def _printable(shown: bytes) -> str:
    """Text that cannot move a cursor or ring a bell: a log may hold any byte."""
    text = shown.decode("utf-8", "replace").rstrip()
    if text.isprintable():
        return text
    return "".join(" " if c.isspace() else c for c in text if c.isspace() or c.isprintable())
