"""Shell code as lists of commands: enough to see what is started, and what in the background."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
OPENING = re.compile(r"(while|until|for|if|case|\(|\{)(?=\s|$|\()")
FUNCTION = re.compile(r"(?:function\s+)?([\w-]+)\s*\(\)\s*\{?$|function\s+([\w-]+)\s*\{?$")
FILLERS = re.compile(r"(do|then|else|elif|!|\(|\{)\s+|\(\s*")
SKIPPED = re.compile(
    r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|\$\([^()]*(?:\([^()]*\)[^()]*)*\)|(?<!\S)#.*"
)
"""What commands are not joined in: escapes, quotes, substitutions, comments."""
ENDS = {"done", "fi", "esac", ")", "}"}


class Simple(msgspec.Struct, frozen=True):
    """One command of a list, without what joins it to the next."""

    line: int
    text: str


class List(msgspec.Struct, frozen=True):
    """Commands joined by `|`, `&&` or `||`, up to a `;`, an `&` or the end of the line."""

    commands: tuple[Simple, ...]
    is_background: bool

    @property
    def line(self) -> int:
        return self.commands[0].line

    @property
    def text(self) -> str:
        return " ".join(command.text for command in self.commands)


class Job(msgspec.Struct, frozen=True):
    """What goes to the background together: one list, or a loop or a function of several."""

    lists: tuple[List, ...]
    is_loop: bool

    @property
    def line(self) -> int:
        return self.lists[0].line

    @property
    def commands(self) -> list[Simple]:
        return [command for each in self.lists for command in each.commands]


def read_lists(lines: Iterable[tuple[int, str]]) -> list[List]:
    """The lists of some lines, each given with its number; continuations are joined before."""
    found: list[List] = []
    until: str | None = None
    for number, line in lines:
        if until is not None:
            until = None if line.strip() == until else until
            continue
        heredoc = HEREDOC.search(line)
        until = heredoc.group(1) if heredoc else None
        found += _lists_of(number, line)
    return found


def _lists_of(number: int, line: str) -> Iterator[List]:
    commands: list[Simple] = []
    for text, joint in _pieces(line):
        if text:
            commands.append(Simple(number, text))
        if joint in {";", ";;", "&", ""} and commands:
            yield List(tuple(commands), joint == "&")
            commands = []


def _pieces(line: str) -> Iterator[tuple[str, str]]:
    """The parts of a line between what joins commands; the brackets of a subshell are parts."""
    start, opened = 0, line.lstrip().startswith(")")
    for place, joint in _joints(line):
        text = line[start:place].strip()
        if joint == "(":
            if text:
                continue
            opened = True
            yield "(", ";"
        elif joint == ")":
            if not opened:
                continue
            yield text, ";"
            start = place
            continue
        else:
            yield text, joint
        start = place + len(joint)
    yield line[start : _end(line)].strip(), ""


def _joints(line: str) -> Iterator[tuple[int, str]]:
    """Where commands are joined or bracketed, outside of quotes, `$(...)` and comments."""
    place = 0
    for skipped in SKIPPED.finditer(line):
        yield from _joints_between(line, place, skipped.start())
        place = skipped.end()
        if skipped.group().startswith("#"):
            return
    yield from _joints_between(line, place, len(line))


def _joints_between(line: str, place: int, end: int) -> Iterator[tuple[int, str]]:
    while place < end:
        joint = line[place] if line[place] in "()" else _joint(line, place)
        if joint:
            yield place, joint
        place += len(joint) or 1


def _end(line: str) -> int:
    """Where the comment of a line begins, or the line ends."""
    for skipped in SKIPPED.finditer(line):
        if skipped.group().startswith("#"):
            return skipped.start()
    return len(line)


def _joint(line: str, place: int) -> str:
    for joint in ("&&", "||", ";;", "|"):
        if line.startswith(joint, place):
            return joint
    sign = line[place]
    if sign == ";":
        return sign
    before, after = line[place - 1 : place], line[place + 1 : place + 2]
    is_redirection = before in {">", "<"} or after == ">"
    return "&" if sign == "&" and not is_redirection else ""


def background_jobs(lists: list[List]) -> list[Job]:
    """What a script leaves running: single lists, loops and blocks, and calls of its functions."""
    jobs: list[Job] = []
    functions: dict[str, list[List]] = {}
    open_at: list[tuple[int, str | None]] = []
    for index, each in enumerate(lists):
        head = each.commands[0].text
        name = FUNCTION.match(head)
        if name:
            open_at.append((index + 1, name.group(1) or name.group(2)))
        elif OPENING.match(head):
            open_at.append((index, None))
        elif _first_word(head) in ENDS and open_at:
            start, function = open_at.pop()
            body = lists[start : index + 1]
            if function:
                functions[function] = body
            elif each.is_background:
                jobs = [job for job in jobs if job.line < body[0].line]
                jobs.append(Job(tuple(body), is_loop=any(map(_is_loop, body))))
        elif each.is_background:
            own = functions.get(_first_word(head), [])
            jobs.append(Job((*own, each), any(map(_is_loop, (*own, each)))))
    return jobs


def _is_loop(each: List) -> bool:
    text = FILLERS.sub("", each.commands[0].text)
    return text.startswith(("while ", "until ", "watch ")) or "inotifywait" in text


def _first_word(text: str) -> str:
    return text.split(maxsplit=1)[0] if text else ""


def without_fillers(text: str) -> str:
    """A command without the `do`, `then` or bracket before it."""
    while True:
        rest = FILLERS.match(text)
        if rest is None:
            return text
        text = text[rest.end() :]
