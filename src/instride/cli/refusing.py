"""How the command line refuses what it cannot do, in the language of the answer."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from instride.errors import InstrideError, looking_at, nearest
from instride.reasons import REFUSALS, Fact, Reason, fill

if TYPE_CHECKING:
    from instride.explain.languages.words import Words

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)")
CHOSEN = re.compile(r"'(.*)' is not one of")
"""The words of click around what it keeps nowhere else."""


class Refusal(click.UsageError):
    """An option or argument that cannot be; named as in `REFUSALS`."""

    def __init__(self, name: str, /, **facts: Fact) -> None:
        super().__init__(fill(REFUSALS[name], facts))
        self.name, self.facts = name, facts
        self.meant: str | None = None
        """The command that would have been right."""


def complain(error: InstrideError | click.UsageError | OSError, args: Sequence[str]) -> None:
    """Print what went wrong and what to do, in the language that the arguments ask for."""
    say = language_of(args)
    if isinstance(error, InstrideError):
        message, hint = say.complaint(error)
    elif isinstance(error, click.UsageError):
        refusal = as_refusal(error)
        command = error.ctx.command_path if error.ctx else "instride"
        message = say.filled(refusal.name, refusal.facts)
        facts = {"command": command, "nearest": refusal.meant or ""}
        hint = say.filled("usage.hint.near" if refusal.meant else "usage.hint", facts)
    else:
        message, hint = _stopped(say, error)
    tell(say, "error", message=message)
    click.echo(err=True)
    tell(say, "hint", hint=hint)


def _stopped(say: Words, error: OSError) -> tuple[str, str]:
    """What no verb has words for: with the file, where the system names one that is to blame."""
    facts: dict[str, Fact] = {"why": Reason.of(error)}
    if isinstance(error.filename, str) and error.errno not in NO_SPACE:
        facts |= {"path": error.filename, "look": looking_at(error.filename)}
        return say.filled("stopped.path", facts), say.filled("stopped.path.hint", facts)
    return say.filled("stopped", facts), say.filled("stopped.hint", {})


def tell(say: Words, name: str, /, **facts: Fact) -> None:
    """Print a line beside the answer, in characters that the terminal has."""
    from instride.cli.render.characters import plainer

    text = say.filled(name, facts)
    click.echo(text.translate(plainer(_encoding())), err=True)


def language_of(args: Sequence[str]) -> Words:
    """The language asked for, also where the arguments could not be understood."""
    from instride.cli.render.characters import can_show
    from instride.explain.languages import DEFAULT, LANGUAGES, choose

    asked = None
    for position, arg in enumerate(args):
        if arg == "--lang":
            asked = "".join(args[position + 1 : position + 2])
        elif arg.startswith("--lang="):
            asked = arg.partition("=")[2]
    language = choose(asked if asked in LANGUAGES else None, os.environ)
    return language if can_show(language.letters, _encoding()) else LANGUAGES[DEFAULT]


def _encoding() -> str:
    return getattr(sys.stderr, "encoding", None) or "ascii"


def as_refusal(error: click.UsageError) -> Refusal:
    """What click refuses, under a name that every language has words for."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, click.NoSuchOption):
        refusal = Refusal("usage.no-option", name=error.option_name)
        refusal.meant = _nearest_option(error)
        return refusal
    if isinstance(error, click.BadOptionUsage):
        name = "usage.flag" if _is_flag(error) else "usage.no-value"
        return Refusal(name, name=error.option_name)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return Refusal("usage.missing", name=_as_typed(error.param))
    if isinstance(error, click.BadParameter) and error.param is not None:
        kind, value = error.param.type, CHOSEN.match(error.message)
        if isinstance(kind, click.Choice) and value:
            values = ", ".join(map(str, kind.choices))
            return Refusal("usage.choice", name=error.param.opts[0], value=value[1], values=values)
    if found := EXTRA.match(error.format_message()):
        return Refusal("usage.extra", values=found[1])
    return Refusal("usage.other", text=error.format_message())


def _as_typed(parameter: click.Parameter) -> str:
    """An option by its longest name; an argument has only the word that stands for it."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return parameter.human_readable_name


def _is_flag(error: click.BadOptionUsage) -> bool:
    parameters = error.ctx.command.params if error.ctx else []
    return any(
        isinstance(each, click.Option) and each.is_flag
        for each in parameters
        if error.option_name in each.opts
    )


def _nearest_option(error: click.NoSuchOption) -> str | None:
    """The command with the option that was misspelt."""
    if error.ctx is None:
        return None
    parameters = error.ctx.command.get_params(error.ctx)
    names = [name for each in parameters for name in each.opts if name.startswith("--")]
    meant = nearest(error.option_name, names)
    return f"{error.ctx.command_path} {meant}" if meant else None
