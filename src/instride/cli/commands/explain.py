"""`instride explain`: a training log in, the owner of every second out."""

from __future__ import annotations

import io
import sys

import click


@click.command("explain", context_settings={"help_option_names": ["-h", "--help"]})
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
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON (schema 1).")
@click.option("--follow", is_flag=True, help="Keep reading while the training runs.")
def command(
    logs: tuple[str, ...],
    dialect: str | None,
    list_dialects: bool,
    patterns: tuple[str, ...],
    as_json: bool,
    follow: bool,
) -> None:
    """Say where the time of a training went, from its log.

    LOG is a file (plain, gzip, zstd), a directory of logs, or - for a pipe. Several files are
    taken as parts of one run, in the order given.
    """
    if list_dialects:
        from instride.cli.render.dialects import print_dialects

        print_dialects()
        return
    _refuse_conflicts(logs, dialect, patterns, as_json, follow)
    if follow:
        from instride.cli.following import follow_log

        follow_log(logs[0], dialect, patterns)
        return
    from instride.explain.explaining import explain, report
    from instride.steps.choosing import choose
    from instride.steps.reading import read_with

    choice = choose(logs, dialect, patterns)
    run = read_with(choice.reader, choice.sources)
    run.notes += choice.notes
    explanation = explain(run, choice.sources)
    if as_json:
        from instride.cli.render import json as json_out

        if isinstance(sys.stdout, io.TextIOWrapper):
            # JSON is UTF-8, whatever the terminal speaks.
            sys.stdout.reconfigure(encoding="utf-8")
        json_out.write(report(explanation), sys.stdout)
        return
    from instride.cli.render.text import print_explanation

    print_explanation(explanation)


def _refuse_conflicts(
    logs: tuple[str, ...],
    dialect: str | None,
    patterns: tuple[str, ...],
    as_json: bool,
    follow: bool,
) -> None:
    if not logs:
        raise click.UsageError("no log given; name a file, or - for a pipe")
    if dialect and patterns:
        raise click.UsageError("--dialect and --pattern exclude each other")
    if follow and as_json:
        raise click.UsageError("--follow and --json exclude each other")
    if follow and len(logs) > 1:
        raise click.UsageError("--follow takes one log")
    if logs.count("-") > 1:
        raise click.UsageError("- can be given once only")
