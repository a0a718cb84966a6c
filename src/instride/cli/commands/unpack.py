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
    was packed before the file appears. Needs numpy.
    """
    from instride.cli.render.progress import watching
    from instride.explain.languages import choose
    from instride.pack.contents import contents_of
    from instride.pack.unpacking import UnpackReport, unpack

    if output is not None and len(packs) > 1:
        raise Refusal("usage.one-pack", name="--output")
    words = choose(lang, os.environ)
    unpacked = []
    with watching() as watcher:
        for each in map(Path, packs):
            if watcher is not None and each.is_file():
                watcher.begin(contents_of(each).original_bytes)
            unpacked.append(
                unpack(
                    each,
                    Path(output) if output else None,
                    force=force,
                    progress=watcher.advance if watcher else None,
                )
            )
    if as_json:
        from instride.cli.render.json import print_json

        print_json(UnpackReport(unpacked))
        return
    from instride.cli.render.packed import print_unpacked

    print_unpacked(unpacked, words)
