"""What the verbs of `instride bench` have in common: options, progress, giving an answer."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from instride.cli.options import F, json_option

if TYPE_CHECKING:
    import msgspec

    from instride.cli.render.bench_page import Page

R = TypeVar("R", bound="msgspec.Struct")


def folder_option(room: str) -> Callable[[F], F]:
    return click.option(
        "--folder",
        default=".",
        metavar="DIR",
        help=f"Where to write, and delete again, {room}; here by default.",
    )


def answer_options(form: str = "as Markdown") -> Callable[[F], F]:
    """How the answer is given: `as_json` and `record`."""

    def with_both(command: F) -> F:
        wording = f"Also write the answer down, {form}."
        return json_option(click.option("--record", metavar="FILE", help=wording)(command))

    return with_both


@contextmanager
def can_be_stopped(resume: str | None) -> Iterator[None]:
    """Say how to go on where something is kept to go on with. Whoever ends the command in order, as
    `timeout` does, finds no checkpoints left on the disk either."""
    if resume is None:
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"stopped: the same command goes on with what is in {resume}", err=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def give(report: R, page_of: Callable[[R], Page], as_json: bool, record: str | None) -> None:
    """Print what was found, and write it down with the command as it was typed."""
    if as_json:
        from instride.cli.render.json import print_json

        print_json(report)
    else:
        from instride.cli.render.bench_page import print_page

        print_page(page_of(report))
    if record is not None:
        import datetime
        import shlex
        from pathlib import Path

        from instride.cli.render.bench_page import write_page

        words = shlex.join(["instride", *sys.argv[1:]])
        write_page(page_of(report), Path(record), words, datetime.date.today())


def say(text: str) -> None:
    """Where somebody watches, say how far it is."""
    if sys.stderr.isatty():
        click.echo(text, err=True)
