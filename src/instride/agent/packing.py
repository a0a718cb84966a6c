"""From a script's file to a committed pack, in turns that the governor gives."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

from blake3 import blake3

from instride.agent.compressing import ChangedError, Means, Order, check_unchanged, name
from instride.errors import PackError
from instride.faults import reached
from instride.governor.yielding import yield_thread
from instride.pack.compressing import Compression
from instride.pack.container import BLOCK_BYTES
from instride.pack.writing import PackCheck, PackWriter
from instride.reasons import Reason
from instride.store.atomic import temporary_beside
from instride.store.manifest import PIECE_BYTES, Manifest, read_token
from instride.store.verifying import pieces_of


def pack(order: Order, means: Means) -> int:
    """As `compress`, with the format of `instride pack`."""
    temporary = temporary_beside(order.final)
    try:
        with (
            closing(Compression(order.source, None)) as compression,
            PackWriter(compression, temporary, progress=means.advance, spares_cache=True) as writer,
        ):
            _in_turns(writer.do_one, means)
            size = writer.finish().pack_bytes
        with PackCheck(temporary) as check:
            _in_turns(check.do_one, means)
        means.advance(order.identity.size_bytes)
        reached("agent.checked")
        check_unchanged(order)
        manifest = Manifest(
            name=order.final.name,
            token=read_token(temporary),
            size_bytes=size,
            pieces=_pieces(temporary),
            created_s=order.identity.mtime_ns / 1e9,
            original_bytes=order.identity.size_bytes,
        )
        name(order, temporary, order.describe(manifest))
    except PackError as error:
        _discard(temporary)
        if error.facts["why"] == Reason("changed"):
            raise ChangedError from error
        raise
    except BaseException:
        _discard(temporary)
        raise
    return size


def _discard(temporary: Path) -> None:
    with suppress(OSError):
        temporary.unlink(missing_ok=True)


def _pieces(path: Path) -> list[str]:
    return [blake3(piece).hexdigest() for piece in pieces_of(path, PIECE_BYTES)]


def _in_turns(do_one: Callable[[], bool], means: Means) -> None:
    """Do all of some work, each piece in a turn of its own."""

    def work() -> None:
        is_more = True
        while is_more:
            with means.pace.turn(BLOCK_BYTES):
                is_more = do_one()

    with ThreadPoolExecutor(means.num_threads, "pack", initializer=yield_thread) as pool:
        for done in [pool.submit(work) for _ in range(means.num_threads)]:
            done.result()
