"""What a program is there for, by its name or by the script that an interpreter runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import PurePosixPath


class Trade(StrEnum):
    COMPRESSOR = "compressor"
    SYNCER = "syncer"
    """Copies files elsewhere: backups, cloud folders, uploads."""
    INDEXER = "indexer"
    """Reads whatever is new: desktop search, virus scanners."""
    TRAINER = "trainer"
    OTHER = "other"


_NAMES = {
    Trade.COMPRESSOR: """
        zstd pzstd zstdmt unzstd gzip pigz bzip2 pbzip2 lbzip2 xz pixz lz4 lzop lrzip brotli 7z 7za
        7zr 7zz zip rar zpaq tar bsdtar blosc
    """,
    Trade.SYNCER: """
        rclone rsync syncthing dropbox dropboxd onedrive insync nextcloud nextcloudcmd owncloud
        megasync mega-cmd-server googledrivefs gsutil s5cmd s3cmd aws azcopy restic borg borgmatic
        duplicati duplicity kopia rdiff-backup lsyncd unison scp sftp bird cloudd fileproviderd
        backupd backupd-helper bacula-fd bareos-fd crashplanservice veeamagent icloudservices
    """,
    Trade.INDEXER: """
        updatedb updatedb.mlocate updatedb.plocate tracker-miner-fs tracker-miner-fs-3
        tracker-extract tracker-extract-3 localsearch-3 localsearch-extractor-3 baloo_file
        baloo_file_extractor baloorunner recollindex mds mds_stores mdworker mdworker_shared
        mdbulkimport searchindexer searchprotocolhost searchfilterhost msmpeng clamscan clamd
        clamdscan clamonacc wdavdaemon falcon-sensor
    """,
    Trade.TRAINER: "torchrun accelerate deepspeed",
}
_TRADES = {name: trade for trade, names in _NAMES.items() for name in names.split()}
_INTERPRETER = re.compile(r"(python|pypy|pythonw)[\d.]*|node|perl|ruby|bash|sh|dash|zsh")
_SCRIPTS = (
    (Trade.COMPRESSOR, re.compile(r"(^|[_\W])(compress\w*|zstd|gzip|recompress\w*)([_\W]|$)")),
    (Trade.SYNCER, re.compile(r"(^|[_\W])(backup|sync|syncer|upload|uploader|mirror)([_\W]|$)")),
    (
        Trade.TRAINER,
        re.compile(r"(^|[_\W])((pre)?train\w*|fine_?tun\w*|sft|dpo|torchrun|run_clm)([_\W]|$)"),
    ),
)
_LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")


def trade_of(name: str, command: Sequence[str]) -> Trade:
    """By the name of the program; of an interpreter, by the name of what it runs."""
    plain = name.lower().removesuffix(".exe")
    if plain in _TRADES:
        return _TRADES[plain]
    if not _INTERPRETER.fullmatch(plain):
        return Trade.OTHER
    script = _script(command)
    if script in _LAUNCHERS:
        return Trade.TRAINER
    base = PurePosixPath(script.replace("\\", "/")).name.lower()
    if (stem := base.removesuffix(".py")) in _TRADES:
        return _TRADES[stem]
    return next((trade for trade, pattern in _SCRIPTS if pattern.search(base)), Trade.OTHER)


def shown_name(name: str, command: Sequence[str]) -> str:
    """The name for people: of an interpreter, with what it runs."""
    script = _script(command) if _INTERPRETER.fullmatch(name.lower().removesuffix(".exe")) else ""
    base = PurePosixPath(script.replace("\\", "/")).name
    return f"{name} {base}" if base else name


def _script(command: Sequence[str]) -> str:
    """What an interpreter was told to run: the file, or the module after `-m`."""
    arguments = iter(command[1:])
    for argument in arguments:
        if argument == "-m":
            return next(arguments, "")
        if argument in ("-c", "-e"):
            return ""
        if argument in ("-W", "-X"):
            next(arguments, None)
        elif not argument.startswith("-"):
            return argument
    return ""
