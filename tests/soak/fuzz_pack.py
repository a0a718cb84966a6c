"""Feeds the reader of packs containers that nobody would write, and looks for one it cannot take.

    python -m tests.soak.fuzz_pack --inputs 1000000

Each input has a number, which makes it again: `--first 4711 --inputs 1`. A good answer is the very
bytes that were packed, or a DamagedError; anything else ends the search.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from instride.errors import DamagedError
from instride.pack.container import FOOTER, HEADER, Entry, Method
from instride.pack.reading import Pack
from tests.unit.pack.packs import container, entry, nudged, packed, safetensors, weights

DATA = safetensors(a=("F32", weights(300)), b=("BF16", weights(100)), c=("U8", b"text" * 60))
CHANGED = safetensors(
    a=("F32", nudged(weights(300))), b=("BF16", weights(100)), c=("U8", b"text" * 60)
)
ODD = (0, 1, 3, 2**16, 2**31, 2**32 - 1, 2**63, 2**64 - 1)


def changed(whole: bytes, dice: random.Random) -> bytes:
    """A pack with some damage: bytes, a cut, a stretch that was moved or repeated."""
    data = bytearray(whole)
    for _ in range(dice.randint(1, 4)):
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
                at = dice.choice([8, 12, -96, -88, -84, -80])
                data[at : at + 4] = (dice.choice(ODD) % 2**32).to_bytes(4, "little")
        if len(data) < 2:
            break
    return bytes(data)


def made_up(whole: bytes, dice: random.Random) -> bytes:
    """A pack with a good seal over wrong numbers, and blocks that may be anything."""
    offset = FOOTER.unpack(whole[-FOOTER.size :])[0]
    stored = whole[HEADER.size : offset]
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
    meta = whole[offset : offset + FOOTER.unpack(whole[-FOOTER.size :])[1]]
    return container(blocks, entries, meta=meta)


def _likely(each: Entry) -> Entry:
    """The same with numbers that pass, so that the block itself is looked at."""
    size = max(each.num_bytes, each.stored_bytes, 1)
    method = each.method if each.stored_bytes else Method.SAME
    width = (each.width or 4) if method in (Method.PLANES, Method.XOR) else 0
    stored = each.stored_bytes if method is not Method.RAW else size
    return Entry(size, stored, 0, method, width, each.digest)


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    answers = fuzz(options.first, options.inputs)
    print(f"{options.inputs} packs: {answers['refused']} refused, {answers['read']} read")
    return 0


def fuzz(first: int, num_inputs: int) -> Counter[str]:
    """How many were refused, and how many read."""
    answers: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base = packed(folder / "base.bin", DATA)
        delta = packed(folder / "delta.bin", CHANGED, base)
        wholes = ((base.read_bytes(), DATA), (delta.read_bytes(), CHANGED))
        for number in range(first, first + num_inputs):
            dice = random.Random(number)
            whole, original = dice.choice(wholes)
            is_damage = dice.random() < 0.5
            path = folder / ("damaged.pack" if is_damage else "made-up.pack")
            path.write_bytes((changed if is_damage else made_up)(whole, dice))
            try:
                answers[take(path, original)] += 1
            except Exception:
                print(f"input {number} gets no good answer", file=sys.stderr)
                raise
    return answers


if __name__ == "__main__":
    sys.exit(main())
