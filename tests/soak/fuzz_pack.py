"""Feeds the reader of packs containers that nobody would write, and looks for one it cannot take;
and archives to what finds the floats in them.

    python -m tests.soak.fuzz_pack --inputs 1000000

Each input has a number, which makes it again: `--first 4711 --inputs 1`. A good answer is the very
bytes that were packed, or a DamagedError; regions in order; anything else ends the search.
"""

from __future__ import annotations

import argparse
import io
import random
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from instride.errors import DamagedError
from instride.pack.container import ENTRY, FOOTER, HEADER, SEALED, Entry, Method
from instride.pack.cutting import cut
from instride.pack.delta import Mapping
from instride.pack.dtypes import regions_of
from instride.pack.reading import Pack
from tests.unit.pack.archives import mark_of_storage, zipped
from tests.unit.pack.packs import container, entry, nudged, packed, safetensors, weights

DATA = safetensors(a=("F32", weights(300)), b=("BF16", weights(100)), c=("U8", b"text" * 60))
CHANGED = safetensors(
    a=("F32", nudged(weights(300))), b=("BF16", weights(100)), c=("U8", b"text" * 60)
)
PICKLE = b"\x80\x02" + b"".join(
    mark_of_storage(str(number), kind, is_new=bool(number % 2))
    for number, kind in enumerate(["torch FloatStorage", "torch HalfStorage", "torch LongStorage"])
)
ARCHIVE = zipped({"a/data.pkl": PICKLE + b".", "a/data/0": bytes(400), "a/data/1": bytes(90)})
ODD = (0, 1, 3, 2**16, 2**31, 2**32 - 1, 2**63, 2**64 - 1)
IN_MEMORY = Path("/dev/shm")


class Whole(NamedTuple):
    """A pack as we write it."""

    raw: bytes
    original: bytes

    @property
    def parts(self) -> tuple[bytes, bytes, bytes, bytes]:
        """Blocks, meta, index, footer."""
        footer = self.raw[-FOOTER.size :]
        offset, meta_bytes, num_blocks, *_ = FOOTER.unpack(footer)
        behind = offset + meta_bytes
        index = self.raw[behind : behind + num_blocks * ENTRY.size]
        return self.raw[HEADER.size : offset], self.raw[offset:behind], index, footer


def changed(raw: bytes, dice: random.Random, fields: tuple[int, ...]) -> bytes:
    """Bytes with some damage: bits, a cut, a stretch that was moved or repeated, an odd number."""
    data = bytearray(raw)
    for _ in range(dice.randint(1, 4)):
        if len(data) < 2:
            break
        place = dice.randrange(len(data))
        match dice.randrange(5):
            case 0:
                data[place] ^= 1 << dice.randrange(8)
            case 1:
                data[place] = dice.randrange(256)
            case 2:
                del data[place : place + dice.randint(1, 60)]
            case 3:
                data[place:place] = data[place : place + dice.randint(1, 60)]
            case 4:
                at = dice.choice(fields)
                data[at : at + 4] = (dice.choice(ODD) % 2**32).to_bytes(4, "little")
    return bytes(data)


def damaged(whole: Whole, dice: random.Random) -> bytes:
    return changed(whole.raw, dice, (8, 12, -96, -88, -84, -80))


def resealed(whole: Whole, dice: random.Random) -> bytes:
    """A pack whose meta, index or footer was changed by somebody who can make a seal."""
    blocks, meta, index, footer = whole.parts
    match dice.randrange(3):
        case 0:
            meta = changed(meta, dice, (0,))
        case 1:
            fields = tuple(range(0, len(index), 4))
            index = changed(index, dice, fields)[: len(index)].ljust(len(index), b"\0")
        case 2:
            footer = changed(footer, dice, (0, 8, 12, 16))[: FOOTER.size].ljust(FOOTER.size, b"\0")
    values = bytearray(footer)
    if dice.random() < 0.9:
        struct.pack_into("<QI", values, 0, HEADER.size + len(blocks), len(meta))
    head = whole.raw[: HEADER.size]
    values[SEALED : SEALED + 32] = blake3(head + meta + index + values[:SEALED]).digest()
    return head + blocks + meta + index + bytes(values)


def made_up(whole: Whole, dice: random.Random) -> bytes:
    """A pack with a good seal over wrong numbers, and blocks that may be anything."""
    stored, meta, _, _ = whole.parts
    blocks, entries = [], []
    for _ in range(dice.randint(0, 4)):
        start = dice.randrange(len(stored))
        block = stored[start : start + dice.choice([0, 1, 7, 40, 400])]
        original = bytes(dice.choice([len(block), dice.choice(ODD) % 5000, 1]))
        method, width = Method(dice.randrange(5)), dice.choice([0, 1, 2, 4, 8])
        blocks.append(block)
        entries.append(entry(original, len(block), method, width, dice.choice(ODD)))
    if dice.random() < 0.5:
        entries = [_likely(each) for each in entries]
    return container(blocks, entries, meta=meta)


def _likely(each: Entry) -> Entry:
    """The same with numbers that pass, so that the block itself is looked at."""
    size = max(each.num_bytes, each.stored_bytes, 1)
    method = each.method if each.stored_bytes else Method.SAME
    width = (each.width or 4) if method in (Method.PLANES, Method.XOR) else 0
    stored = each.stored_bytes if method is not Method.RAW else size
    return Entry(size, stored, 0, method, width, each.digest)


KINDS: dict[str, Callable[[Whole, random.Random], bytes]] = {
    "damaged": damaged,
    "resealed": resealed,
    "made-up": made_up,
}


def take(path: Path, original: bytes) -> str:
    """Read it whole, and then from a place in the middle."""
    try:
        with Pack(path) as pack:
            data = b"".join(bytes(pack.block(number)) for number in range(len(pack.index)))
            middle = pack.read_at(len(data) // 2, 100)
    except DamagedError:
        return "refused"
    if middle != data[len(data) // 2 :][:100]:
        raise AssertionError("two ways of reading differ")
    if path.stem == "damaged" and data != original:
        raise AssertionError("other bytes were read than were packed")
    return "read"


def look_into(dice: random.Random) -> str:
    """Find the floats in an archive that is none any more."""
    raw = changed(dice.choice([ARCHIVE, DATA]), dice, tuple(range(-120, 0, 4)))
    regions = regions_of(io.BytesIO(raw))
    ends = [0] + [region.end for region in regions]
    if any(end > region.start for end, region in zip(ends, regions, strict=False)):
        raise AssertionError("regions overlap")
    cuts = cut(regions, len(raw))
    if b"".join(raw[each.start : each.end] for each in cuts) != raw:
        raise AssertionError("the blocks are not the file")
    mapping = Mapping(regions, regions_of(io.BytesIO(ARCHIVE), regions), len(ARCHIVE))
    for each in cuts:
        offset = mapping.offset_of(each.start, each.end)
        if offset is not None and not 0 <= offset <= len(ARCHIVE) - (each.end - each.start):
            raise AssertionError("a place outside of the base")
    return "looked into"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    answers = fuzz(options.first, options.inputs)
    told = ", ".join(f"{count} {answer}" for answer, count in sorted(answers.items()))
    print(f"{options.inputs} packs and archives: {told}")
    return 0


def fuzz(first: int, num_inputs: int) -> Counter[str]:
    """How many were refused, read, or looked into."""
    answers: Counter[str] = Counter()
    memory = IN_MEMORY if IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as name:
        folder = Path(name)
        base = packed(folder / "base.bin", DATA)
        delta = packed(folder / "delta.bin", CHANGED, base)
        wholes = (Whole(base.read_bytes(), DATA), Whole(delta.read_bytes(), CHANGED))
        for number in range(first, first + num_inputs):
            dice = random.Random(number)
            try:
                answers[_try_one(dice, wholes, folder)] += 1
            except Exception:
                print(f"input {number} gets no good answer", file=sys.stderr)
                raise
    return answers


def _try_one(dice: random.Random, wholes: tuple[Whole, ...], folder: Path) -> str:
    if dice.random() < 0.25:
        return look_into(dice)
    whole, kind = dice.choice(wholes), dice.choice(list(KINDS))
    path = folder / f"{kind}.pack"
    path.write_bytes(KINDS[kind](whole, dice))
    return take(path, whole.original)


if __name__ == "__main__":
    sys.exit(main())
