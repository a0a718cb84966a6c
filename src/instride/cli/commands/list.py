"""`instride list`: a directory of checkpoints in, what lies there and whose it is out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from instride.cli.answering import language_option


@click.command("list", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("directory", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON (schema 1).")
@language_option
def command(directory: str, as_json: bool, lang: str | None) -> None:
    """Show the checkpoints in a directory, and who saves there.

    Looks at ends and sizes only, which is quick; `instride verify` reads every byte. Nothing is
    changed, and a training that saves there is not disturbed.
    """
    from instride.explain.languages import choose
    from instride.pack.contents import entry_of
    from instride.store.listing import list_store

    words = choose(lang, os.environ)
    listing = list_store(Path(directory), entry_of)
    if as_json:
        from instride.cli.render.json import print_json

        print_json(listing)
        return
    from instride.cli.render.listing import print_listing

    print_listing(listing, words)
