"""`instride explain`: a training log in, the owner of every second out."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from instride.cli.answering import explained
from instride.cli.options import HELP, json_option, language_option
from instride.cli.refusing import Refusal, tell
from instride.errors import UnwritableError
from instride.reasons import Reason

if TYPE_CHECKING:
    from instride.explain.languages.words import Words


@click.command("explain", context_settings=HELP)
@click.argument("logs", nargs=-1, metavar="LOG...")
@click.option("--dialect", metavar="NAME", help="Take the log as written by this trainer.")
@click.option("--dialects", "list_dialects", is_flag=True, help="List the trainers, and stop.")
@click.option(
    "--pattern",
    "patterns",
    multiple=True,
    metavar="REGEX",
    help="Say what a step looks like, with named groups: step, and ms, seconds or time.",
)
@click.option(
    "--mtbf",
    metavar="TIME",
    help="Time between failures (12h, 3d), to say how often to save; by default as in the log.",
)
@json_option
@click.option(
    "--html", metavar="FILE", help="Write a page with charts, in one file that needs no network."
)
@click.option("--perfetto", metavar="FILE", help="Write a trace for a timeline viewer.")
@click.option("--follow", is_flag=True, help="Keep reading while the training runs.")
@language_option
def command(
    logs: tuple[str, ...],
    dialect: str | None,
    list_dialects: bool,
    patterns: tuple[str, ...],
    mtbf: str | None,
    as_json: bool,
    html: str | None,
    perfetto: str | None,
    follow: bool,
    lang: str | None,
) -> None:
    """Say where the time of a training went, from its log.

    LOG is a file (plain, gzip, zstd), a directory of logs, or - for a pipe. Several files are
    taken as parts of one run, in the order given.
    """
    _refuse_conflicts(
        logs or (("-",) if list_dialects else ()),
        {"--dialect": dialect, "--pattern": patterns},
        {"--follow": follow, "--json": as_json, "--html": html, "--perfetto": perfetto},
    )
    from instride.explain.languages import LANGUAGES, choose

    language = choose(lang, os.environ)
    if list_dialects:
        from instride.cli.render.dialects import print_dialects

        print_dialects(language)
        return
    mtbf_s = _mtbf_s(mtbf)
    if follow:
        from instride.cli.following import follow_log

        follow_log(logs[0], dialect, patterns, language=language, mtbf_s=mtbf_s)
        return
    explanation = explained(logs, dialect, patterns, mtbf_s)
    if html is not None:
        from instride.cli.render.html import write_html

        page = partial(write_html, explanation, languages=LANGUAGES, chosen=language.code)
        _write(language, html, page)
    if perfetto is not None:
        from instride.cli.render.perfetto import write_perfetto

        _write(language, perfetto, partial(write_perfetto, explanation))
    if as_json:
        from instride.cli.render.json import print_json
        from instride.explain.explaining import report

        answer = report(explanation, language)
        # The columns of a long log are not needed any more, and its answer is long too.
        del explanation
        print_json(answer)
        return
    from instride.cli.render.text import print_explanation

    print_explanation(explanation, language=language)


def _write(language: Words, target: str, write: Callable[[Path], None]) -> None:
    try:
        write(Path(target))
    except OSError as error:
        raise UnwritableError(target, Reason.of(error)) from error
    tell(language, "wrote", path=target)


def _mtbf_s(text: str | None) -> float | None:
    if text is None:
        return None
    from instride.explain.advice import parse_mtbf

    try:
        return parse_mtbf(text)
    except ValueError as error:
        raise Refusal("usage.mtbf", text=text) from error


def _refuse_conflicts(
    logs: tuple[str, ...], readings: dict[str, object], answers: dict[str, object]
) -> None:
    if not logs:
        raise Refusal("usage.no-log")
    if logs.count("-") > 1:
        raise Refusal("usage.one-pipe")
    if all(readings.values()):
        one, other = readings
        raise Refusal("usage.exclude", one=one, other=other)
    if answers["--follow"]:
        if len(logs) > 1:
            raise Refusal("usage.one-log", name="--follow")
        others = [name for name, given in answers.items() if given and name != "--follow"]
        if others:
            raise Refusal("usage.exclude", one="--follow", other=others[0])
