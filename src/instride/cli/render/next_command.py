"""The command to type next, with the logs that it is about."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from rich.cells import cell_len

from instride.explain.languages.screen import Around

LOGS = "LOG"
"""What stands for the logs in a command."""


def about_logs(
    command: str, names: Sequence[str], say: Callable[[str], Around], width: int
) -> Around:
    """The line of a command with the names for `LOG`. Where that is too wide, the note goes first;
    a command is never broken. A pipe cannot be read again, and many names fill a screen: for these
    the word stays."""
    if list(names) == ["-"]:
        return say(command)
    line = say(command.replace(LOGS, shlex.join(names)))
    bare = Around(line.before, line.part, "")
    if _width(line) <= width:
        return line
    return bare if len(names) == 1 or _width(bare) <= width else say(command)


def _width(line: Around) -> int:
    return cell_len(line.before + line.part + line.after)
