"""`instride`: verbs are loaded when they are used, errors are printed in one place."""

from __future__ import annotations

import importlib
import io
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from instride import __version__
from instride.cli.options import HELP
from instride.cli.refusing import Refusal, complain
from instride.errors import InstrideError, nearest

VERBS = {
    "explain": "Say where the time of a training went, from its log.",
    "compare": "Say what a change brought, from the logs before and after it.",
    "doctor": "Say what will make steps slow or lose checkpoints, before the run.",
    "list": "Show the checkpoints in a directory, and who saves there.",
    "verify": "Compare every byte of checkpoints with what was written.",
    "prune": "Delete checkpoints that need not be kept.",
    "export": "Write the tensors of a checkpoint to a safetensors file.",
    "pack": "Make checkpoint files smaller, byte for byte what they were.",
    "unpack": "Write the files that packs were made from.",
    "agent": "Compress and prune checkpoints of any script, while it trains.",
    "bench": "Measure ways of doing a thing side by side, on this machine.",
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise _no_such_verb(args[0], ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


def _no_such_verb(name: str, ctx: click.Context) -> Refusal:
    """Say which verb was misspelt, or left out before a log."""
    refusal = Refusal("usage.no-command", name=name)
    refusal.ctx = ctx
    meant = nearest(name, VERBS)
    if os.path.exists(name):  # noqa: PTH110 - pathlib costs start-up time
        meant = f"explain {shlex.quote(name)}"
    refusal.meant = f"{ctx.command_path} {meant}" if meant else None
    return refusal


@click.group(cls=_LazyGroup, context_settings=HELP)
@click.version_option(__version__, prog_name="instride")
def cli() -> None:
    """Find out why training steps are slow.

    Start with the log you already have:  instride explain train.log
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; print errors as `error:` and `hint:`; return the exit code."""
    _fit_output()
    given = sys.argv[1:] if args is None else args
    try:
        result = cli.main(args=args, prog_name="instride", standalone_mode=False)
        sys.stdout.flush()
    except InstrideError as error:
        complain(error, given)
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.UsageError as error:
        complain(error, given)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader of our output is gone (`| head`), for which rich ends the program.
        _discard_output()
        return 0
    except OSError as error:
        _discard_output()
        complain(error, given)
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
