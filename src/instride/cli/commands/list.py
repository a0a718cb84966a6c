"""`instride list`: a directory of checkpoints in, what lies there and whose it is out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from instride.cli.options import HELP, json_option, language_option

if TYPE_CHECKING:
    from instride.store.listing import PackEntry


@click.command("list", context_settings=HELP)
@click.argument("directory", metavar="DIR")
@json_option
@language_option
def command(directory: str, as_json: bool, lang: str | None) -> None:
    """Show the checkpoints in a directory, and who saves there.

    Looks at ends and sizes only, which is quick; `instride verify` reads every byte. Nothing is
    changed, and a training that saves there is not disturbed.
    """
    from instride.explain.languages import choose
    from instride.store.listing import list_store

    words = choose(lang, os.environ)
    listing = list_store(Path(directory), _look_into)
    if as_json:
        from instride.cli.render.json import print_json

        print_json(listing)
        return
    from instride.cli.render.listing import print_listing

    print_listing(listing, words)


def _look_into(path: Path) -> PackEntry | None:
    """What is in a file that was made smaller."""
    from instride.framed.reading import entry_of as entry_of_framed
    from instride.pack.contents import entry_of as entry_of_pack

    return entry_of_pack(path) if path.suffix == ".pack" else entry_of_framed(path)
