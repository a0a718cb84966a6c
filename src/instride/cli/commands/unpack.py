"""`instride unpack`: packs in, the files that they were made from out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from instride.cli.options import HELP, json_option, language_option
from instride.cli.refusing import Refusal


@click.command("unpack", context_settings=HELP)
@click.argument("packs", metavar="PACK...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Where to; by default beside the pack.")
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@json_option
@language_option
def command(
    packs: tuple[str, ...], output: str | None, force: bool, as_json: bool, lang: str | None
) -> None:
    """Write the files that packs were made from.

    Each gets the name that it had, beside its pack, which stays. Every byte is compared with what
    was packed before the file appears. Each is told when it is done, also if a later one fails.
    Needs numpy.
    """
    from instride.cli.render.packed import UnpackScreen
    from instride.cli.render.progress import watching
    from instride.explain.languages import choose
    from instride.pack.container import is_pack
    from instride.pack.contents import contents_of
    from instride.pack.unpacking import Unpacked, UnpackReport, unpack

    if output is not None and len(packs) > 1:
        raise Refusal("usage.one-pack", name="--output")
    screen = UnpackScreen(choose(lang, os.environ))
    unpacked: list[Unpacked] = []
    try:
        for each in map(Path, packs):
            with watching() as watcher:
                if watcher is not None and each.is_file() and is_pack(each):
                    watcher.begin(contents_of(each).original_bytes)
                done = unpack(
                    each,
                    Path(output) if output else None,
                    force=force,
                    progress=watcher.advance if watcher else None,
                )
            unpacked.append(done)
            if not as_json:
                screen.show(done)
    finally:
        # Also where a later one fails, those before it are told.
        if as_json and unpacked:
            from instride.cli.render.json import print_json

            print_json(UnpackReport(unpacked))
    if not as_json:
        screen.end(unpacked[-1])
