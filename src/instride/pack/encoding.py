"""One block in, the smallest form of it out: what is tried on a sample is done to the whole."""

from __future__ import annotations

from typing import Any, NamedTuple

from instride.pack.arrays import Bytes, np
from instride.pack.container import Method
from instride.pack.planes import Codec

NUM_SAMPLES = 8
SAMPLE_BYTES = 8 << 10
GUESSES = (1, 2, 4, 8)
USUAL = (0.5, 0.95)
"""What planes make of floats; beyond that, repeats may be worth looking for."""


class Encoded(NamedTuple):
    method: Method
    width: int
    parts: list[Any]
    """Buffers that follow each other in the file."""

    @property
    def num_bytes(self) -> int:
        return sum(len(part) for part in self.parts)


def encode(
    codec: Codec, data: Bytes, width: int | None, base: Bytes | None, room: Bytes | None = None
) -> Encoded:
    """Try what could be smallest; what does not shrink is stored as it is.

    `room` is memory for as many bytes, that what comes out may lie in.
    """
    if base is not None and np.array_equal(data, base):
        return Encoded(Method.SAME, 0, [])
    difference = None if base is None else np.bitwise_xor(data, base)
    method, width = _choose(codec, data, width, difference)
    if method is Method.ZSTD:
        encoded = Encoded(method, 0, [codec.squeeze(data.data)])
    else:
        chosen = difference if method is Method.XOR and difference is not None else data
        encoded = Encoded(method, width, codec.split(chosen, width, room))
    if encoded.num_bytes >= len(data):
        return Encoded(Method.RAW, 0, [data.data])
    return encoded


def _choose(
    codec: Codec, data: Bytes, width: int | None, difference: Bytes | None
) -> tuple[Method, int]:
    """The method and width that make the least of a sample."""
    widths = GUESSES if width is None else (width,)
    sample = _sample(data)
    sizes = {(Method.PLANES, each): _total(codec.split(sample, each)) for each in widths}
    if difference is not None:
        part = _sample(difference)
        for each in widths:
            sizes[Method.XOR, each] = _total(codec.split(part, each))
    if width is None or not USUAL[0] < min(sizes.values()) / len(sample) < USUAL[1]:
        sizes[Method.ZSTD, 0] = len(codec.squeeze(sample.data))
    return min(sizes, key=lambda choice: sizes[choice])


def _total(parts: list[Any]) -> int:
    return sum(len(part) for part in parts)


def _sample(data: Bytes) -> Bytes:
    """Some stretches of a block; their starts keep elements whole."""
    if len(data) <= 2 * NUM_SAMPLES * SAMPLE_BYTES:
        return data
    distance = len(data) // NUM_SAMPLES // 8 * 8
    return np.concatenate(
        [data[at : at + SAMPLE_BYTES] for at in range(0, NUM_SAMPLES * distance, distance)]
    )
