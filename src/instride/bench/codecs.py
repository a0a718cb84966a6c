"""Other ways of making a checkpoint smaller, each on 4 MiB pieces: one method each way."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

import msgspec

from instride.lifetimes import PerThread


class Rival(msgspec.Struct, frozen=True):
    compress: Callable[[memoryview], bytes]
    decompress: Callable[[memoryview], bytes]


def plain_zstd(level: int, width: int) -> Rival:
    """With memory that is used again, as we do."""
    compressor = PerThread(lambda: zstd.ZstdCompressor(level=level))

    def compress(data: memoryview) -> bytes:
        return compressor.get().compress(data, zstd.ZstdCompressor.FLUSH_FRAME)

    return Rival(compress, zstd.decompress)


def lz4(width: int) -> Rival:
    frame: Any = importlib.import_module("lz4.frame")
    return Rival(frame.compress, frame.decompress)


def blosc2(width: int) -> Rival:
    """With its filter, which puts bytes of one rank together."""
    module: Any = importlib.import_module("blosc2")
    options = {
        "typesize": width,
        "codec": module.Codec.ZSTD,
        "clevel": 1,
        "filters": [module.Filter.SHUFFLE],
        "nthreads": 1,
    }
    return Rival(
        lambda data: module.compress2(data, **options),
        lambda data: module.decompress2(bytes(data)),
    )


def zipnn(width: int) -> Rival:
    module: Any = importlib.import_module("zipnn")
    dtype = {2: "bfloat16", 4: "float32"}[width]
    coder = module.ZipNN(input_format="byte", bytearray_dtype=dtype)
    return Rival(
        lambda data: coder.compress(bytearray(data)), lambda data: coder.decompress(bytes(data))
    )


RIVALS: dict[str, Callable[[int], Rival]] = {
    "zstd -1": partial(plain_zstd, 1),
    "zstd -3": partial(plain_zstd, 3),
    "lz4": lz4,
    "blosc2": blosc2,
    "zipnn": zipnn,
}
