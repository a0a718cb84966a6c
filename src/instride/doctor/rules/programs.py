"""What a command line starts, and with which priority."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath

import msgspec

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
GROUP_LIMITS = re.compile(
    r"CPUWeight|CPUQuota|AllowedCPUs|cgexec|cpulimit|autogroup|--cpus\b|--cpu-shares|--cpuset"
)
SAME_SESSION = {"nohup", "time", "exec", "env", "stdbuf", "sudo", "command", "uv", "poetry"}
OWN_SESSION = {"setsid", "tmux", "screen", "systemd-run", "daemonize", "start-stop-daemon"}
WITH_VALUES = {
    "nice": {"-n", "--adjustment"},
    "ionice": {"-c", "-n", "-p", "--class", "--classdata"},
    "chrt": set(),
    "taskset": {"-c", "--cpu-list"},
    "timeout": {"-s", "-k"},
    "systemd-run": {"-p", "--unit", "--property", "--slice"},
    "setsid": set(),
}  # fmt: skip
POSITIONAL = {"timeout": 1, "chrt": 1, "taskset": 1}
MULTIPLEXED = re.compile(r"\b(tmux\s+(new|new-session|send-keys|new-window)\b|screen\s+-\S*d)")
NESTED = re.compile(r"\b(?:ba|z|da)?sh\s+-l?c\s+(['\"])(.*)\1", re.DOTALL)


class Program(msgspec.Struct, frozen=True):
    """A program as a command line starts it, what is put before it taken away."""

    words: tuple[str, ...]
    has_nice: bool = False
    has_limit: bool = False
    """Bound to some CPUs, or weighed as a group."""
    own_session: bool = False

    @property
    def name(self) -> str:
        """`zstd`; for an interpreter the script that it runs."""
        for word in self.words:
            name = PurePosixPath(word).name
            is_interpreter = re.fullmatch(r"python[\d.]*|bash|sh|cargo|run|-m|-u|node", name)
            if not is_interpreter and not word.startswith("-"):
                return name
        return ""

    @property
    def text(self) -> str:
        return " ".join(self.words)


def read_program(text: str) -> Program:
    """What a command starts, wrappers such as `nohup nice -n 19` looked through."""
    nested = NESTED.search(text)
    outer = _words(text[: nested.start()] if nested else text)
    words, has_nice, has_limit = _unwrapped(outer)
    own_session = bool(MULTIPLEXED.search(text)) or bool({*outer} & OWN_SESSION)
    if MULTIPLEXED.search(text):
        words = _multiplexed(words)
    if nested:
        inner = read_program(nested.group(2))
        words = list(inner.words)
        has_nice, has_limit = has_nice or inner.has_nice, has_limit or inner.has_limit
    limited = has_limit or bool(GROUP_LIMITS.search(text))
    return Program(tuple(words), has_nice, limited, own_session)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _unwrapped(words: list[str]) -> tuple[list[str], bool, bool]:
    has_nice = has_limit = False
    rest = list(words)
    while rest:
        name = PurePosixPath(rest[0]).name
        if ASSIGNMENT.fullmatch(rest[0]) or name in SAME_SESSION:
            rest = rest[1:]
            if name in {"uv", "poetry"} and rest[:1] == ["run"]:
                rest = rest[1:]
        elif name in WITH_VALUES:
            has_nice = has_nice or name == "nice" or (name == "chrt" and "-i" in rest[:3])
            has_limit = has_limit or name == "taskset"
            rest = _without_options(rest[1:], name)
        else:
            break
    return rest, has_nice, has_limit


def _without_options(rest: list[str], name: str) -> list[str]:
    has_list = name == "taskset" and any(each in {"-c", "--cpu-list"} for each in rest[:2])
    while rest and rest[0].startswith("-"):
        takes_value = rest[0] in WITH_VALUES[name]
        rest = rest[2:] if takes_value else rest[1:]
    return rest if has_list else rest[POSITIONAL.get(name, 0) :]


def _multiplexed(words: list[str]) -> list[str]:
    """The command that tmux or screen is told to run."""
    quoted = [each for each in words[1:] if " " in each]
    if quoted:
        return list(read_program(quoted[-1]).words)
    rest = words[1:]
    while rest and (rest[0].startswith("-") or rest[0] in {"new", "new-session", "new-window"}):
        takes_value = re.fullmatch(r"-\w*[sStnc]|-S|-s", rest[0]) is not None
        rest = rest[2:] if takes_value else rest[1:]
    return rest
