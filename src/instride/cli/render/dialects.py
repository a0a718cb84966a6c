"""The list of dialects, with a line of each."""

from __future__ import annotations

import click

from instride.steps.readers import READERS


def print_dialects() -> None:
    """Print name, trainer, how its times are to be read, and a sample line."""
    width = max(len(reader.dialect.name) for reader in READERS)
    for reader in READERS:
        dialect = reader.dialect
        click.echo(f"{dialect.name:{width}}  {dialect.title}")
        click.echo(f"{'':{width}}  time: {dialect.sampling}; pauses in it: {dialect.pauses}")
        click.echo(f"{'':{width}}  {dialect.sample}")
    click.echo("\nOthers: instride explain train.log guesses, or say what a step looks like:")
    click.echo(r"  instride explain train.log --pattern 'step (?P<step>\d+) .* (?P<ms>[\d.]+) ?ms'")
