"""`instride export`: a checkpoint in, its tensors in a file for other programs out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from instride.cli.options import HELP, json_option, language_option


@click.command("export", context_settings=HELP)
@click.argument("checkpoint", metavar="CHECKPOINT")
@click.argument("target", metavar="FILE.safetensors")
@click.option(
    "--part",
    metavar="NAME",
    help="What to export; dots lead deeper. By default `model` if there is one, else all.",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@json_option
@language_option
def command(
    checkpoint: str, target: str, part: str | None, force: bool, as_json: bool, lang: str | None
) -> None:
    """Write the tensors of a checkpoint to a safetensors file.

    No code in the checkpoint is run: it is read with `weights_only=True`, after its bytes were
    compared with its manifest, if it has one. The file appears whole or not at all. Needs torch and
    safetensors.
    """
    from instride.explain.languages import choose
    from instride.store.exported import check_export

    words = choose(lang, os.environ)
    source, where = Path(checkpoint), Path(target)
    check_export(source, where, force=force)
    from instride.saver.exporting import export

    answer = export(source, where, part)
    if as_json:
        from instride.cli.render.json import print_json

        print_json(answer)
        return
    from instride.cli.render.exported import print_export

    print_export(answer, words)
