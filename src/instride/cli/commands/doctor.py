"""`instride doctor`: a machine and a training repository in, what is wrong with them out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from instride.cli.options import HELP, json_option, language_option

FOUND_SOMETHING = 1
"""The exit code of an answer with findings to act on; each error has one of its own."""


@click.command("doctor", context_settings=HELP)
@click.argument("repo", required=False)
@click.option(
    "--checkpoints",
    multiple=True,
    metavar="DIR",
    help="Where checkpoints go; by default what REPO says. May be repeated.",
)
@click.option("--log", metavar="FILE", help="A log of this training, for what saves really cost.")
@click.option(
    "--only", multiple=True, metavar="RULE", help="Check this rule only. May be repeated."
)
@click.option("--rules", "list_rules", is_flag=True, help="List the rules, and stop.")
@click.option("--no-probe", is_flag=True, help="Write nothing, not even a short file to measure.")
@json_option
@language_option
def command(
    repo: str | None,
    checkpoints: tuple[str, ...],
    log: str | None,
    only: tuple[str, ...],
    list_rules: bool,
    no_probe: bool,
    as_json: bool,
    lang: str | None,
) -> int:
    """Say what will make steps slow or lose checkpoints, before the run.

    REPO is the directory of the training code; the current one by default, if it has any. Nothing
    in it is changed or run. Exits with 1 if something sure or likely was found, else with 0.
    """
    from instride.explain.languages import choose

    language = choose(lang, os.environ)
    if list_rules:
        from instride.cli.render.doctor_rules import print_rules

        print_rules(language)
        return 0
    from instride.doctor.examining import LONGEST_S, examine
    from instride.doctor.request import Request, repository_here
    from instride.doctor.starting import seconds_since_start

    diagnosis = examine(
        Request(
            repo=repository_here() if repo is None else Path(repo),
            checkpoints=tuple(Path(each) for each in checkpoints),
            log=log,
            only=only,
            probe=not no_probe,
        ),
        LONGEST_S - seconds_since_start(),
    )
    if as_json:
        from instride.cli.render.json import print_json
        from instride.doctor.languages import LANGUAGES
        from instride.doctor.report import report

        print_json(report(diagnosis, LANGUAGES[language.code]))
    else:
        from instride.cli.render.doctor import print_diagnosis

        print_diagnosis(diagnosis, language)
    return FOUND_SOMETHING if diagnosis.is_ill else 0
