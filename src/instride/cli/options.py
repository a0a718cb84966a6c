"""Options that verbs have in common, each with one wording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

HELP = {"help_option_names": ["-h", "--help"]}
"""The settings of every verb."""

LANGUAGE_CODES = ("en", "de", "fr", "ja")
"""Named here too, so that `--help` need not load the languages; a test compares."""

language_option = click.option(
    "--lang",
    type=click.Choice(LANGUAGE_CODES),
    help="The language of the answer; that of the locale by default.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the answer as JSON (schema 1)."
)


def number_option(name: str, default: int, help: str, least: int = 1) -> Callable[[F], F]:
    return click.option(
        name,
        type=click.IntRange(min=least),
        default=default,
        show_default=True,
        metavar="N",
        help=help,
    )
