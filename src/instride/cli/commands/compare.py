"""`instride compare`: the logs before and after a change in, what it brought out."""

from __future__ import annotations

import os

import click

from instride.cli.answering import explained
from instride.cli.options import HELP, json_option, language_option
from instride.cli.refusing import Refusal


@click.command("compare", context_settings=HELP)
@click.argument("before")
@click.argument("after")
@click.option("--dialect", metavar="NAME", help="Take both logs as written by this trainer.")
@click.option(
    "--pattern",
    "patterns",
    multiple=True,
    metavar="REGEX",
    help="Say what a step looks like, as for explain.",
)
@json_option
@language_option
def command(
    before: str,
    after: str,
    dialect: str | None,
    patterns: tuple[str, ...],
    as_json: bool,
    lang: str | None,
) -> None:
    """Say what a change brought, from the logs before and after it.

    BEFORE and AFTER are each a file (plain, gzip, zstd), a directory of logs, or - for a pipe.
    They may be of different length: costs are compared per 1000 steps.
    """
    if dialect and patterns:
        raise Refusal("usage.exclude", one="--dialect", other="--pattern")
    if before == after == "-":
        raise Refusal("usage.one-pipe")
    from instride.explain.comparing import compare
    from instride.explain.languages import choose

    words = choose(lang, os.environ)
    comparison = compare(
        explained([before], dialect, patterns), explained([after], dialect, patterns)
    )
    if as_json:
        from instride.cli.render.json import print_json
        from instride.explain.comparison_report import comparison_report

        print_json(comparison_report(comparison, words))
        return
    from instride.cli.render.comparison import print_comparison

    print_comparison(comparison, words)
