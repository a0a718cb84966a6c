"""`instride`: verbs are loaded when they are used, errors are printed in one place."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from instride import __version__
from instride.errors import InstrideError

VERBS = {
    "explain": "Say where the time of a training went, from its log.",
    "compare": "Say what a change brought, from the logs before and after it.",
}
INTERRUPTED = 130


class _LazyGroup(click.Group):
    """Knows its verbs by name and imports one when it is called: `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        module = importlib.import_module(f"instride.cli.commands.{name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="instride")
def cli() -> None:
    """Find out why training steps are slow.

    Start with the log you already have:  instride explain train.log
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; print errors as `error:` and `hint:`; return the exit code."""
    _fit_output()
    try:
        result = cli.main(args=args, prog_name="instride", standalone_mode=False)
        sys.stdout.flush()
    except InstrideError as error:
        _complain(str(error), error.hint)
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.UsageError as error:
        _complain(error.format_message(), f"`{_help_of(error)}` shows what can be said")
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader of our output is gone (`| head`), for which rich ends the program.
        _discard_output()
        return 0
    except OSError as error:
        _discard_output()
        _complain(
            f"cannot go on: {error.strerror or error}",
            "`df -h . /tmp` shows whether a disk is full",
        )
        return InstrideError.exit_code
    return result if isinstance(result, int) else 0


def _fit_output() -> None:
    """Let every terminal print something: one that has no such character, or none at all."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _discard_output() -> None:
    """Keep Python from complaining at exit about what it could not print."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _help_of(error: click.UsageError) -> str:
    return f"{error.ctx.command_path if error.ctx else 'instride'} --help"


def _complain(message: str, hint: str) -> None:
    click.echo(f"error: {message}", err=True)
    if hint:
        click.echo(f"\nhint: {hint}", err=True)
