"""What verbs that read logs have in common: from what the user named to an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from instride.explain.explaining import Explanation

LANGUAGE_CODES = ("en", "de", "fr", "ja")
"""Named here too, so that `--help` need not load the languages; a test compares."""

language_option = click.option(
    "--lang",
    type=click.Choice(LANGUAGE_CODES),
    help="The language of the answer; that of the locale by default.",
)


def explained(
    logs: Sequence[str],
    dialect: str | None,
    patterns: Sequence[str],
    mtbf_s: float | None = None,
) -> Explanation:
    """Choose the files and the reader, read the run, and explain it."""
    from instride.explain.explaining import explain
    from instride.steps.choosing import choose
    from instride.steps.reading import read_with

    choice = choose(logs, dialect, patterns)
    run = read_with(choice.reader, choice.sources)
    run.notes += choice.notes
    return explain(run, choice.sources, mtbf_s)
