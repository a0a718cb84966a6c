"""`instride agent`: directories of checkpoints in, smaller and fewer of them as long as it runs."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from instride.cli.options import HELP, json_option
from instride.cli.refusing import Refusal

if TYPE_CHECKING:
    from instride.agent.configuration import Configuration
    from instride.agent.reconciling import Agent

INTERRUPTED = 130


class _WithStatus(click.Command):
    """`instride agent status` is a command of its own; a directory of that name is `./status`."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        if args[:1] == ["status"]:
            return status.make_context(f"{info_name} status", args[1:], parent)
        return super().make_context(info_name, args, parent, **extra)


@click.command("agent", cls=_WithStatus, context_settings=HELP)
@click.argument("directories", metavar="DIR...", nargs=-1)
@click.option("--config", metavar="FILE", help="A TOML file that says what to do.")
@click.option(
    "--watch-dir", "watched", multiple=True, metavar="DIR", help="The same as DIR; may be repeated."
)
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep the N newest checkpoints of each series; all by default.",
)
@click.option(
    "--compress/--no-compress",
    "is_compressing",
    default=None,
    help="Compress checkpoints, which is the default, or only prune them.",
)
@click.option(
    "--remove-original", is_flag=True, help="Delete a file once its smaller form is proven."
)
@click.option("--log", metavar="LOG", help="What the training prints: steps are read from it.")
@click.option("--once", is_flag=True, help="Do what is to be done now, and end.")
def command(
    directories: tuple[str, ...],
    config: str | None,
    watched: tuple[str, ...],
    keep: int | None,
    is_compressing: bool | None,
    remove_original: bool,
    log: str | None,
    once: bool,
) -> int:
    """Compress and prune checkpoints of any script, while it trains.

    Looks after directories that a training saves to: each whole checkpoint is compressed, compared
    with the original and committed; old ones go. A governor holds it back so that steps stay as
    fast as they are. `instride agent status DIR` says what it does. Ctrl-C ends it, and nothing is
    left half done.
    """
    import msgspec

    from instride.agent.configuration import Configuration, read_file

    configuration = read_file(Path(config)) if config else Configuration()
    changes: dict[str, object] = {}
    if directories or watched:
        changes["directories"] = tuple(map(Path, dict.fromkeys((*directories, *watched))))
    if keep is not None:
        changes["keep"] = keep
    if is_compressing is not None:
        changes["is_compressing"] = is_compressing
    if remove_original:
        changes["removes_original"] = True
    if log is not None:
        changes["log"] = Path(log)
    configuration = msgspec.structs.replace(configuration, **changes)
    if not configuration.directories:
        raise Refusal("usage.no-directory")
    return _run(configuration, is_once=once)


def _run(configuration: Configuration, *, is_once: bool) -> int:
    if sys.platform != "linux":
        import platform

        from instride.errors import NeedsLinuxError

        raise NeedsLinuxError(platform.system())
    from instride.agent.reconciling import Agent
    from instride.cli.render.agent import reporting

    with reporting() as reporter:
        agent = Agent(configuration, reporter)
        received = _stop_on_signals(agent)
        agent.run(is_once=is_once)
    return INTERRUPTED if signal.SIGINT in received else 0


def _stop_on_signals(agent: Agent) -> list[int]:
    """End in order at the first signal; the second one does what it always does."""
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        received.append(number)
        is_interrupt = number == signal.SIGINT
        signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)
        # In a thread of its own: what was interrupted may hold the locks that are needed for it.
        threading.Thread(target=agent.stop).start()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as `nohup`, or `&` in a script, wants it
            signal.signal(number, stop)
    return received


@click.command("status", context_settings=HELP)
@click.argument("directory", metavar="[DIR]", default=".")
@json_option
def status(directory: str, as_json: bool) -> None:
    """Say what the agent of a directory does, did, and cost the training.

    DIR is the directory that it looks after; the current one by default.
    """
    from instride.agent.status import read_status
    from instride.store.listing import check_directory

    check_directory(Path(directory))
    answer = read_status(Path(os.path.normpath(directory)))
    if as_json:
        from instride.cli.render.json import print_json

        print_json(answer)
        return
    from instride.cli.render.agent import print_status

    print_status(answer)
