"""`instride prune`: a directory of checkpoints in, fewer of them out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from instride.cli.options import HELP, json_option, language_option

if TYPE_CHECKING:
    from instride.store.retention import Keep

ONE_OR_MORE = click.IntRange(min=1)


@click.command("prune", context_settings=HELP)
@click.argument("directory", metavar="DIR")
@click.option(
    "--keep-last", type=ONE_OR_MORE, required=True, metavar="N", help="Keep the N saved last."
)
@click.option(
    "--keep-every", type=ONE_OR_MORE, metavar="N", help="Keep steps that are a multiple of N too."
)
@click.option(
    "--keep-best", type=ONE_OR_MORE, metavar="N", help="Keep the N with the best metric too."
)
@click.option(
    "--best-is",
    type=click.Choice(["lowest", "highest"]),
    default="lowest",
    show_default=True,
    help="Which metric is the best.",
)
@click.option("--dry-run", is_flag=True, help="Delete nothing; show what would go.")
@json_option
@language_option
def command(
    directory: str,
    keep_last: int,
    keep_every: int | None,
    keep_best: int | None,
    best_is: str,
    dry_run: bool,
    as_json: bool,
    lang: str | None,
) -> None:
    """Delete checkpoints that need not be kept.

    The newest is read from the disk first, and one that is whole always stays. Files that instride
    did not write are left alone. Refuses while a training saves there, which prunes by itself.
    """
    from instride.cli.render.progress import watching
    from instride.explain.languages import choose
    from instride.store.pruning import prune
    from instride.store.retention import Keep

    words = choose(lang, os.environ)
    keep = Keep(
        last=keep_last,
        every=keep_every,
        best=keep_best,
        best_is="highest" if best_is == "highest" else "lowest",
    )
    with watching() as watcher:
        pruning = prune(Path(directory), keep, dry_run=dry_run, watcher=watcher)
    if as_json:
        from instride.cli.render.json import print_json

        print_json(pruning)
        return
    from instride.cli.render.pruning import print_pruning

    print_pruning(pruning, _without_dry_run(keep), words)


def _without_dry_run(keep: Keep) -> str:
    """The command that does it, with the path left to be filled in."""
    options = {"last": keep.last, "every": keep.every, "best": keep.best}
    said = [f"--keep-{name} {value}" for name, value in options.items() if value is not None]
    if keep.best is not None and keep.best_is != "lowest":
        said.append(f"--best-is {keep.best_is}")
    return " ".join(["instride prune DIR", *said])
