"""The smaller file of one original: which codec, which name, and what the store knows of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from instride.agent.compressing import Means, Order, compress
from instride.agent.configuration import Configuration
from instride.agent.looking import Original
from instride.agent.pacing import Governing
from instride.framed.codecs import Codec, Lz4, Zstd
from instride.store.manifest import Manifest, read_manifest, versions_here
from instride.store.naming import forget_older_manifests

SUFFIXES = {"zstd": Zstd.suffix, "lz4": Lz4.suffix, "pack": ".pack"}


def final_of(original: Original, configuration: Configuration) -> Path:
    """The name that the smaller file will have."""
    return original.path.with_name(original.path.name + SUFFIXES[configuration.format])


def codec_maker(configuration: Configuration) -> Callable[[], Codec]:
    """A codec for each thread that asks. Raises MissingLibraryError when it is called."""
    level = configuration.level
    return (lambda: Lz4(level)) if configuration.format == "lz4" else (lambda: Zstd(level))


def check_codec(configuration: Configuration) -> None:
    """Say now, not at the first checkpoint, that a library is missing. Raises
    MissingLibraryError."""
    if configuration.is_compressing and configuration.format == "pack":
        import instride.agent.packing  # noqa: F401 - it loads numpy
    elif configuration.is_compressing:
        codec_maker(configuration)()


def job(
    original: Original,
    serial: int,
    configuration: Configuration,
    governing: Governing,
    advance: Callable[[int], None],
) -> Callable[[], int]:
    """What makes the file, and returns its size; for a thread that yields."""
    order = Order(
        original.path,
        final_of(original, configuration),
        original.identity,
        _describer(original, serial),
    )
    means = Means(codec_maker(configuration), governing.pace, governing.num_threads, advance)

    def make() -> int:
        if configuration.format == "pack":
            from instride.agent.packing import pack

            stored = pack(order, means)
        else:
            stored = compress(order, means)
        if manifest := read_manifest(order.final):
            forget_older_manifests(order.final, manifest.token)
        return stored

    return make


def _describer(original: Original, serial: int) -> Callable[[Manifest], Manifest]:
    """What a store knows of a checkpoint stays; what nobody knew is told by its name."""
    known = read_manifest(original.path)
    step = original.place.step if original.place else None

    def describe(made: Manifest) -> Manifest:
        if known is None:
            versions = dict(versions_here())
            return msgspec.structs.replace(
                made, serial=serial, step=step, by_agent=True, versions=versions
            )
        return msgspec.structs.replace(
            known,
            name=made.name,
            token=made.token,
            size_bytes=made.size_bytes,
            pieces=made.pieces,
            original_bytes=made.original_bytes,
        )

    return describe
