"""`instride verify`: checkpoints in, whether every byte is what was written out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from instride.cli.options import HELP, json_option, language_option
from instride.errors import DamagedError, NoStoreError


@click.command("verify", context_settings=HELP)
@click.argument("path", metavar="PATH|DIR")
@json_option
@language_option
def command(path: str, as_json: bool, lang: str | None) -> int:
    """Compare every byte of checkpoints with what was written.

    PATH is a checkpoint, DIR a directory of them. They are read from the disk, past the page
    cache. Exits with 0 if all are whole, with 30 if one is damaged, with 40 if one may not be
    read; all are looked at.
    """
    from instride.cli.render.progress import watching
    from instride.explain.languages import choose
    from instride.store.checking import check

    words = choose(lang, os.environ)
    with watching() as watcher:
        verdict = check(Path(path), watcher, _verify_form)
    if as_json:
        from instride.cli.render.json import print_json

        print_json(verdict)
    else:
        from instride.cli.render.verdict import print_verdict

        print_verdict(verdict, words)
    if verdict.num_damaged:
        return DamagedError.exit_code
    return NoStoreError.exit_code if verdict.num_unreadable else 0


def _verify_form(path: Path) -> None:
    from instride.framed.reading import is_framed, verify_framed

    if is_framed(path):
        verify_framed(path)
        return
    from instride.pack.unpacking import verify_pack

    verify_pack(path)
