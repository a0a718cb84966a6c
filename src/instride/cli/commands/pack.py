"""`instride pack`: checkpoint files in, smaller ones that hold the same bytes out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from instride.cli.options import HELP, json_option, language_option


@click.command("pack", context_settings=HELP)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--base",
    metavar="PACK",
    help="Store what differs from this one only: a pack in the same directory, without a base.",
)
@click.option("--keep-original", is_flag=True, help="Do not delete FILE when its pack is there.")
@click.option("--force", is_flag=True, help="Replace a pack that is there already.")
@json_option
@language_option
def command(
    files: tuple[str, ...],
    base: str | None,
    keep_original: bool,
    force: bool,
    as_json: bool,
    lang: str | None,
) -> None:
    """Make checkpoint files smaller, byte for byte what they were.

    FILE becomes FILE.pack beside it, and is deleted once that was read back and compared, unless
    the link `latest` points to it. Any file can be packed; floats of `.pt` and `.safetensors` are
    packed best. Nothing is unpickled. Each is told when it is done, also if a later one fails.
    Needs numpy.
    """
    from instride.cli.render.packed import PackScreen
    from instride.cli.render.progress import watching
    from instride.explain.languages import choose
    from instride.pack.packing import Packed, PackReport, pack

    screen = PackScreen(choose(lang, os.environ))
    packed: list[Packed] = []
    try:
        for file in files:
            with watching() as watcher:
                if watcher is not None and os.path.isfile(file):  # noqa: PTH113 - a name, not a path
                    watcher.begin(os.path.getsize(file))  # noqa: PTH202 - the same
                done = pack(
                    Path(file),
                    Path(base) if base else None,
                    keep_original=keep_original,
                    force=force,
                    progress=watcher.advance if watcher else None,
                )
            packed.append(done)
            if not as_json:
                screen.show(done)
    finally:
        # Originals are gone by then: also where a later file fails, those before it are told.
        if as_json and packed:
            from instride.cli.render.json import print_json

            print_json(PackReport(packed))
    if not as_json:
        screen.end(packed[-1])
