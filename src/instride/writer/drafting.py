"""From a committed checkpoint to a pack that is durable and was read back. This loads numpy."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from instride.errors import DamagedError
from instride.faults import reached
from instride.pack.compressing import Compression
from instride.pack.probing import Probe
from instride.pack.writing import PackCheck, PackWriter
from instride.store.directory import Checkpoint
from instride.writer.swapping import Draft, Order, Piecewise

Do = Callable[[Piecewise], None]
"""Gets some work done."""


def draft(order: Order, do: Do) -> Draft:
    """Make a pack, against the base of the order if that is worth it and can be read. Raises
    OSError, and DamagedError for an original that is not what its manifest says."""
    if order.base is None:
        return _draft(order, None, do)
    try:
        return _draft(order, order.base, do)
    except DamagedError as error:  # if it is the original, it is found again
        order.temporary.unlink(missing_ok=True)
        return msgspec.structs.replace(_draft(order, None, do), trouble=str(error))


def _draft(order: Order, base: Checkpoint | None, do: Do) -> Draft:
    with Compression(order.path, base.path if base else None) as compression:
        if base is not None:
            probe = Probe(compression)
            do(probe)
            if not probe.pays:
                compression.drop_base()
        has_base = compression.base_in_meta() is not None
        manifest = order.checkpoint.manifest
        with PackWriter(
            compression, order.temporary, manifest=manifest, spares_cache=True
        ) as writer:
            do(writer)
            written = writer.finish()
    with PackCheck(order.temporary) as check:
        do(check)
    reached("pack.checked")
    return Draft(
        order,
        written.original_bytes,
        written.pack_bytes,
        written.same_bytes,
        written.pieces,
        has_base,
    )
