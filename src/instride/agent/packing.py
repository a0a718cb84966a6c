"""From a script's file to a committed pack, in turns that the governor gives."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from blake3 import blake3

from instride.agent.compressing import ChangedError, Means, Order, commit
from instride.errors import PackError
from instride.governor.yielding import yield_thread
from instride.pack.compressing import Compression
from instride.pack.container import BLOCK_BYTES
from instride.pack.writing import PackCheck, PackWriter
from instride.reasons import Reason
from instride.store.atomic import removed_on_failure, temporary_beside
from instride.store.manifest import PIECE_BYTES
from instride.store.verifying import pieces_of


def pack(order: Order, means: Means) -> int:
    """As `compress`, with the format of `instride pack`."""
    temporary = temporary_beside(order.final)
    try:
        with removed_on_failure(temporary):
            return _make(order, means, temporary)
    except PackError as error:
        if error.facts["why"] == Reason("changed"):
            raise ChangedError from error
        raise


def _make(order: Order, means: Means, temporary: Path) -> int:
    with (
        Compression(order.source, None) as compression,
        PackWriter(compression, temporary, progress=means.advance, spares_cache=True) as writer,
    ):

        def do_one() -> bool:
            compression.only_stores = means.pace.codec_step > 0
            return writer.do_one()

        _in_turns(do_one, means)
        writer.finish()
    with PackCheck(temporary) as check:
        _in_turns(check.do_one, means)
    means.advance(order.identity.size_bytes)
    return commit(order, temporary, _pieces(temporary))


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
