"""The list of dialects, with a line of each."""

from __future__ import annotations

import click

from instride.cli.render.wrapping import wrap
from instride.explain.languages import DEFAULT, LANGUAGES
from instride.explain.languages.screen import ScreenWords
from instride.steps.readers import READERS

WIDTH = 80
PATTERN = r"instride explain LOG --pattern 'step (?P<step>\d+) .* (?P<ms>[\d.]+) ?ms'"


def print_dialects(language: ScreenWords = LANGUAGES[DEFAULT]) -> None:
    """Print name, trainer, how its times are to be read, and a sample line, uncut."""
    widest = max(len(reader.dialect.name) for reader in READERS) + 2
    indent = " " * widest
    for reader in READERS:
        dialect = reader.dialect
        click.echo(f"{dialect.name:{widest}}{language.trainer(dialect.title)}")
        times = language.show_times(dialect.sampling, dialect.pauses)
        click.echo("\n".join(wrap(times, WIDTH, indent, indent)))
        click.echo(f"{indent}{dialect.sample}")
    click.echo()
    click.echo(language.screen_phrases["others"])
    click.echo(language.screen_phrases["describe"])
    click.echo(f"  {PATTERN}")
