"""The rules about a repository: each looks at it and gives what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from instride.doctor.model import Finding
from instride.doctor.repository import Repository
from instride.doctor.request import Request
from instride.doctor.rules import (
    choosing,
    cleaning,
    compressing,
    habits,
    intervals,
    keys,
    loading,
    saving,
    threads,
)

Check = Callable[[Repository, Request], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "shallow-copy-to-thread": threads.shallow_copy_to_thread,
    "compressor-beside-training": compressing.compressor_beside_training,
    "syncer-beside-training": compressing.syncer_beside_training,
    "whole-file-compression": compressing.whole_file_compression,
    "twin-keys": keys.twin_keys,
    "contradicting-values": keys.contradicting_values,
    "two-cleaners": cleaning.two_cleaners,
    "deletes-before-saving": cleaning.deletes_before_saving,
    "daemon-thread-saves": threads.daemon_thread_saves,
    "save-in-place": saving.save_in_place,
    "orders-by-mtime": choosing.orders_by_mtime,
    "unanchored-step-pattern": choosing.unanchored_step_pattern,
    "save-blocks-training": saving.save_blocks_training,
    "saves-too-often": intervals.saves_too_often,
    "evaluates-too-often": intervals.evaluates_too_often,
    "saves-too-rarely": intervals.saves_too_rarely,
    "collects-garbage-often": habits.collects_garbage_often,
    "empties-cache": habits.empties_cache,
    "synchronizes-every-step": habits.synchronizes_every_step,
    "waits-for-values-every-step": habits.waits_for_values_every_step,
    "loader-restarts-workers": loading.loader_restarts_workers,
    "loader-workers": loading.loader_workers,
    "loader-not-pinned": loading.loader_not_pinned,
    "unused-key": keys.unused_key,
    "module-pickled": saving.module_pickled,
}
WITH_LOG = frozenset({"saves-too-often", "evaluates-too-often", "saves-too-rarely"})
"""Rules that read a log, where one is given."""
