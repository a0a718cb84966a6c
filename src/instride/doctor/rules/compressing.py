"""Compressors and syncs that run beside training, and compression of whole checkpoints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from instride.doctor.diffs import diff
from instride.doctor.model import Certainty, Finding, Fix, FixKind, Place
from instride.doctor.repository import ConfigFile, Entry, Repository
from instride.doctor.request import Request
from instride.doctor.rules.priorities import lowest_priority
from instride.doctor.rules.programs import Program
from instride.doctor.rules.saves import checkpoint_saves
from instride.doctor.rules.started import CHECKPOINTS, Started, started
from instride.doctor.rules.values import text_reaching

COMPRESSORS = {
    "7z", "7za", "brotli", "bzip2", "gzip", "lbzip2", "lz4", "lzma", "pbzip2", "pigz", "pixz",
    "pxz", "pzstd", "xz", "zip", "zstd", "zstdmt",
}  # fmt: skip
COMPRESSING_TAR = re.compile(r"^tar\s+(-?\w*[zjJ]|.*--(zstd|gzip|xz|bzip2|use-compress-program))")
COMPRESSING = re.compile(r"compress(?!ed)|zstd|gzip", re.IGNORECASE)
SYNCERS = {
    "azcopy", "dropbox", "inotify-sync", "lsyncd", "onedrive", "rclone", "rsync", "s3cmd", "s5cmd",
    "syncthing", "unison",
}  # fmt: skip
SYNC_COMMANDS = re.compile(
    r"^(aws\s+s3\s+(sync|cp|mv)|gsutil\s+.*\b(rsync|cp)|gcloud\s+storage\s+(rsync|cp)"
    r"|az\s+storage\s+\w+\s+(sync|upload-batch)|(hf|huggingface-cli)\s+upload)\b"
)
BANDWIDTH = re.compile(r"--bwlimit|--bandwidth|--cap-mbps|--limit-rate")
CONFIG_NAME = re.compile(r".+\.(toml|ya?ml|json|ini|cfg)")
CODECS = {"zstd", "gzip", "gz", "lz4", "xz", "lzma", "bzip2", "bz2", "brotli", "zlib", "snappy"}
SWITCHES = {"enabled", "enable", "active", "on", "use"}
WATCHED = re.compile(r"watch|path|pattern|glob|dir|folder|source|input|file", re.IGNORECASE)
PACKED_FILE = re.compile(
    r"\b(gzip|bz2|lzma|lz4(\.frame)?|zstd|zstandard|pyzstd|pgzip|brotli)\.(open|\w*File)\("
)
TRUE = re.compile(r"\b(true|yes|on)\b", re.IGNORECASE)
LONGEST_COMMAND = 60


def compressor_beside_training(repository: Repository, request: Request) -> Iterator[Finding]:
    """Compressors that training has to share its cores with."""
    for each in started(repository):
        config = _config_of(repository, each.program)
        entry = _compression(config) if config is not None else None
        if not (_compresses(each.program) or entry is not None) or each.yields:
            continue
        about = _is_about_checkpoints(each, config)
        if _matters(repository, each, about, is_daemon=entry is not None):
            more = [config.place(entry.line)] if config is not None and entry is not None else []
            yield _finding("compressor-beside-training", each, more)


def syncer_beside_training(repository: Repository, request: Request) -> Iterator[Finding]:
    """Syncs that training has to share its disk with."""
    for each in started(repository):
        if not _syncs(each.program) or each.yields or BANDWIDTH.search(each.program.text):
            continue
        about = _is_about_checkpoints(each, None)
        if _matters(repository, each, about, is_daemon=False):
            yield _finding("syncer-beside-training", each, [])


def _finding(rule: str, each: Started, more: list[Place]) -> Finding:
    command = each.command
    if len(command) > LONGEST_COMMAND:
        command = command[: LONGEST_COMMAND - 3] + "..."
    return Finding(
        rule,
        {"command": command},
        (each.file.place(each.line), *more),
        Certainty.LIKELY,
        (lowest_priority(each),),
    )


def _compresses(program: Program) -> bool:
    name = program.name
    return (
        name in COMPRESSORS
        or bool(COMPRESSING_TAR.match(program.text))
        or bool(COMPRESSING.search(name))
    )


def _syncs(program: Program) -> bool:
    return program.name in SYNCERS or bool(SYNC_COMMANDS.match(program.text))


def _matters(repository: Repository, each: Started, about: bool, is_daemon: bool) -> bool:
    """Whether it runs while training does, and for long or on what training writes."""
    if each.beside_training:
        return each.lasts or is_daemon or about
    trains = any(not file.aside and file.mentions("backward(") for file in repository.python)
    return about and (each.lasts or is_daemon) and trains


def _is_about_checkpoints(each: Started, config: ConfigFile | None) -> bool:
    return bool(CHECKPOINTS.search(each.program.text)) or (
        config is not None and watches_checkpoints(config)
    )


def _config_of(repository: Repository, program: Program) -> ConfigFile | None:
    """The configuration that a program is started with."""
    for word in program.words[1:]:
        name = word.rpartition("=")[2]
        if CONFIG_NAME.fullmatch(name):
            wanted = PurePosixPath(name).name
            for config in repository.configs:
                if PurePosixPath(config.path).name == wanted:
                    return config
    return None


def _compression(config: ConfigFile) -> Entry | None:
    """The entry that turns compression on."""
    own = [each for each in config.entries if any("compress" in part.lower() for part in each.path)]
    switches = [each for each in own if each.key.lower() in SWITCHES]
    if switches:
        return next((each for each in switches if each.value is True), None)
    for each in own:
        names_it = "compress" in each.key.lower()
        if each.value is True or (names_it and str(each.value).lower() in CODECS):
            return each
        is_section = not names_it and each.key.lower() in {"level", "algorithm", "codec"}
        if is_section and each.value not in (0, None, False, "none"):
            return each
    return None


def watches_checkpoints(config: ConfigFile) -> bool:
    """Whether a configuration names checkpoints as what a tool works on."""
    return any(
        isinstance(each.value, str) and WATCHED.search(each.key) and CHECKPOINTS.search(each.value)
        for each in config.entries
    )


def reads(repository: Repository, name: str) -> bool:
    """Whether Python code of the repository reads a key, so that it is no other tool's."""
    pattern = re.compile(rf"[\"'.]{re.escape(name)}\b")
    return any(pattern.search(file.text) for file in repository.python)


def whole_file_compression(repository: Repository, request: Request) -> Iterator[Finding]:
    """Compression that costs a core and saves hardly anything."""
    for config in repository.configs:
        if config.aside or not config.mentions("compress", "Compress"):
            continue
        entry = _compression(config)
        if entry is not None and _is_for_checkpoints(repository, config, entry):
            yield Finding(
                "whole-file-compression",
                {"setting": _setting(entry)},
                (config.place(entry.line),),
                Certainty.LIKELY,
                (_turned_off(config, entry),),
            )
    for save in checkpoint_saves(repository):
        packed = PACKED_FILE.search(text_reaching(save.file, save.target))
        if save.reach is not None and packed:
            yield Finding(
                "whole-file-compression",
                {"setting": packed.group().removesuffix("(")},
                (save.file.place(save.call.lineno),),
                Certainty.LIKELY,
                (Fix(FixKind.LINE, "torch.save(state, path)\n"),),
            )


def _is_for_checkpoints(repository: Repository, config: ConfigFile, entry: Entry) -> bool:
    """Whether it stands among settings of checkpoints, or in a tool's file that watches them."""
    if any(CHECKPOINTS.search(part) for part in entry.path):
        return True
    is_section = "compress" in entry.path[0].lower()
    return is_section and watches_checkpoints(config) and not reads(repository, entry.path[0])


def _setting(entry: Entry) -> str:
    value = str(entry.value).lower() if isinstance(entry.value, bool) else str(entry.value)
    return f"{'.'.join(entry.path)} = {value}"


def _turned_off(config: ConfigFile, entry: Entry) -> Fix:
    line = config.lines[entry.line - 1]
    if entry.value is True:
        head, sign, tail = line.rpartition("=" if config.kind in {"toml", "ini"} else ":")
        changed = f"{head}{sign}{TRUE.sub('false', tail, count=1)}"
        if changed != line:
            return diff(config, {entry.line: [changed]}) or Fix(FixKind.LINE, changed + "\n")
    return Fix(FixKind.LINE, f"{entry.key}: none\n")
