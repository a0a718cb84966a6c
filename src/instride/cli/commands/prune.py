"""`instride prune`: a directory of checkpoints in, fewer of them out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from instride.cli.options import HELP, json_option, language_option
from instride.errors import DamagedError, NoStoreError

if TYPE_CHECKING:
    from instride.store.pruning import Pruning
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
) -> int:
    """Delete checkpoints that need not be kept.

    The newest is read from the disk first, and one that is whole always stays. Files that have no
    manifest are left alone, and so is what is damaged. Refuses while a training saves there, which
    prunes by itself. Exits with 30 if it found one that is damaged, with 40 if one may not be read,
    else with 0.
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
    else:
        from instride.cli.render.pruning import print_pruning

        command_of_it = _without_dry_run(keep)
        print_pruning(pruning, command_of_it, words, needed_by=_needed_by(pruning))
    if any(checked.state == "damaged" for checked in pruning.damaged):
        return DamagedError.exit_code
    return NoStoreError.exit_code if pruning.damaged else 0


def _needed_by(pruning: Pruning) -> Mapping[str, Sequence[int]]:
    """The steps of packs that stay, by the name of the base that they need."""
    from instride.store.directory import checkpoints_in

    going = {entry.name for entry in pruning.deleted}
    found: dict[str, list[int]] = {}
    for checkpoint in checkpoints_in(Path(pruning.directory)):
        if checkpoint.base is not None and checkpoint.path.name not in going:
            found.setdefault(checkpoint.base, []).append(checkpoint.step)
    return found


def _without_dry_run(keep: Keep) -> str:
    """The command that does it, with the path left to be filled in."""
    options = {"last": keep.last, "every": keep.every, "best": keep.best}
    said = [f"--keep-{name} {value}" for name, value in options.items() if value is not None]
    if keep.best is not None and keep.best_is != "lowest":
        said.append(f"--best-is {keep.best_is}")
    return " ".join(["instride prune DIR", *said])
