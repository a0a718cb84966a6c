"""Why something failed, as a part of a message: a name, facts, and the words for it in English."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Reason(NamedTuple):
    """Why something failed, as a part of a message: its name in `REASONS`, and facts."""

    name: str
    facts: Mapping[str, str | int | float] = {}

    @classmethod
    def of(cls, error: OSError) -> Reason:
        """What the system says, by its own name if that is a common one."""
        name = f"os.{errno.errorcode.get(error.errno or 0, '')}"
        if name in REASONS:
            return cls(name)
        return cls("os", {"text": error.strerror or str(error)})


Fact = str | int | float | Reason


def other_bytes(offset: int, num_bytes: int) -> Reason:
    """A checksum is that of many bytes: it tells that they differ, not which of them. A block that
    is all in its base has none of its own, only a place."""
    return Reason("other-bytes", {"offset": offset, "last": offset + max(num_bytes, 1) - 1})


REASONS: Mapping[str, str] = {
    "os": "{text}",
    "os.ENOENT": "No such file or directory",
    "os.EACCES": "Permission denied",
    "os.EPERM": "Operation not permitted",
    "os.EISDIR": "Is a directory",
    "os.ENOTDIR": "Not a directory",
    "os.ENOSPC": "No space left on device",
    "os.EDQUOT": "Disk quota exceeded",
    "os.EROFS": "Read-only file system",
    "os.EIO": "Input/output error",
    "os.ENAMETOOLONG": "File name too long",
    "os.ELOOP": "Too many levels of symbolic links",
    "os.EMFILE": "Too many open files",
    "empty-name": "it is an empty name",
    "closed-input": "standard input is closed",
    "damaged": "its compressed data is cut off or damaged",
    "no-manifest": "it has no manifest: it is not instride's, or a copy without the hidden "
    "`.instride`",
    "gone-manifest": "its manifest is gone",
    "other-manifest": "its manifest differs from what was written",
    "other-end": "its end differs from every manifest written for that name",
    "other-size": "it has {size} bytes instead of {written}",
    "other-bytes": "it differs somewhere in the bytes from {offset} to {last}",
    "no-file": "it is neither a file nor a directory",
    "no-pack": "it is no pack",
    "is-pack": "it is a pack already",
    "is-packed": "it was packed already, and is `{pack}` now",
    "pack-cut": "its end is missing: it was cut off, or never finished",
    "pack-version": "its version is {version}, which this instride does not know",
    "pack-index": "its index differs from what was written",
    "no-base": "its base `{base}` is not there",
    "other-base": "its base `{base}` is not the one that it was packed against",
    "base-no-pack": "the base `{base}` is no pack",
    "base-elsewhere": "the base `{base}` is in another directory",
    "base-of-store": "the base `{base}` belongs to a training, which may delete it; this "
    "file does not",
    "base-delta": "the base `{base}` has a base itself",
    "changed": "it was changed meanwhile",
    "no-frames": "neither zstd nor lz4 compressed it",
    "no-seek-table": "it has no seek table at its end: it was cut off, or not made by instride",
    "seek-table": "its seek table does not fit it",
    "want-flag": "it must be true or false",
    "want-text": "it must be a text",
    "want-pattern": 'it must be a pattern for names of files, as in "step_*.pt"',
    "want-count": "it must be a whole number from 1 on; left out, everything is kept",
    "want-whole": "it must be a whole number from {low} to {high}",
    "want-share": "it must be a share between 0 and 1, as in 0.02",
    "want-seconds": "it must be a number of seconds",
    "want-choice": "it must be one of {names}",
    "no-level": "a pack has no level",
    "no-text": "it is not text in UTF-8",
    "no-part": "it has no part `{part}` (there are {parts})",
    "no-parts": "it holds no named parts",
    "no-tensors": "there is no tensor in it",
    "no-such-kind": "`{name}` is of a kind that safetensors has not: {kind}",
    "same-name": "two tensors would both be called `{name}`",
    "unsafe-name": "it needs `{name}`",
    "unsafe-form": "torch reads none of it without running code",
    "no-archive": "torch cannot read it: {text}",
    "no-regex": "it is not a regular expression: {text}",
    "unknown-group": "no group is called `{name}` (the names are {names})",
    "near-group": "no group is called `{name}`, did you mean `{nearest}`? (the names are {names})",
    "no-groups": r"it has no named group, such as `(?P<step>\d+)`",
    "endless": "a repeat inside a repeat makes it endlessly slow",
    "no-step-group": "no group is named `step`",
    "no-table": "it is not a table",
    "no-texts": "it is not a list of texts",
    "no-setting": "there is no such setting",
    "near-setting": "there is no such setting, did you mean `{nearest}`?",
    "dialects": "{count} dialects, then guessed",
    "lines": "{title} lines",
    "zero-times": "all their times are zero",
    "short-total": "its total time ({total_s}) is less than that of its evaluations ({evals_s}): "
    "it is that of the last process only",
    "no-times": "no time of a step could be read",
    "only-evals": "no time of a step could be read; evaluations took {evals_s}",
}


NOT_ALLOWED = (Reason("os.EACCES"), Reason("os.EPERM"))
"""What the system says of what may not be read, and may be whole."""

REFUSALS: Mapping[str, str] = {
    "error": "error: {message}",
    "hint": "hint: {hint}",
    "stopped": "cannot go on: {why}",
    "stopped.path": "cannot go on with `{path}`: {why}",
    "stopped.hint": "`df -h . /tmp` shows whether a disk is full",
    "stopped.path.hint": "`{look}` shows what is there, and who may read and write it",
    "usage.hint": "`{command} --help` shows what can be said",
    "usage.hint.near": "did you mean `{nearest}`? `{command} --help` shows what can be said",
    "usage.other": "{text}",
    "usage.no-command": "there is no command `{name}`",
    "usage.no-option": "there is no option `{name}`",
    "usage.no-value": "`{name}` needs a value",
    "usage.flag": "`{name}` takes no value",
    "usage.choice": "`{value}` is none of the values of {name}: {values}",
    "usage.missing": "`{name}` is missing",
    "usage.extra": "nothing more is expected after what was given: `{values}`",
    "usage.no-log": "no log given; name a file, or - for a pipe",
    "usage.one-pipe": "- can be given once only",
    "usage.one-log": "{name} takes one log",
    "usage.one-pack": "{name} takes one pack",
    "usage.no-directory": "no directory given; name one, or a --config with [watcher] path",
    "usage.exclude": "{one} and {other} exclude each other",
    "usage.mtbf": "--mtbf: `{text}` is no time between failures; say 12h, 3d or 90min",
    "wrote": "wrote {path}",
}
"""What the command line says when it cannot do what was asked; `wrote` when it could."""


def fill(
    text: str,
    facts: Mapping[str, Fact],
    texts: Mapping[str, str] = REASONS,
    write: Callable[[str | int | float], str] | None = None,
) -> str:
    """A text with its facts: reasons in the words of `texts`, all else as `write` writes it."""

    def written(fact: Fact) -> str:
        if isinstance(fact, Reason):
            return fill(texts[fact.name], fact.facts, texts, write)
        if write is not None:
            return write(fact)
        return f"{fact:.0f} s" if isinstance(fact, float) else str(fact)

    return text.format_map({name: written(fact) for name, fact in facts.items()})
