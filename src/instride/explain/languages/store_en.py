"""English: checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.store import StoreWords


class EnglishStore(StoreWords):
    store_phrases: ClassVar[Mapping[str, str]] = {
        "step": "step",
        "size": "size",
        "age": "age",
        "metric": "metric",
        "paid": "paid",
        "durable": "durable",
        "newest": "newest",
        "latest": "latest",
        "whole": "whole",
        "foreign": "foreign",
        "damaged": "damaged",
        "unreadable": "unreadable",
        "baseless": "base gone",
        "kept": "kept",
        "gone": "deleted",
        "going": "would go",
        "nobody": "no training saves here now",
        "ends": "paid: what training waited for the save; durable: after so long it was safe. Ends "
        "and sizes were compared, not every byte.",
        "empty": "There is no checkpoint here.",
        "stale": "`latest` is a file, not the link to the newest: whoever opens it gets what "
        "was the newest once. Give it another name:",
        "next": "next: ",
        "next.verify": "compares every byte",
        "next.explain": "where the time went",
        "next.doctor": "looks at its disk before a run",
        "next.list": "shows what is there",
        "next.closed": "shows who may read it",
        "next.unpack": "gives the original back, byte for byte",
        "next.prune": "deletes them",
        "next.load": "shows what is in it",
    }
    store_units: ClassVar[Mapping[str, str]] = {"s": " s", "min": " min", "h": " h", "d": " d"}

    def store_contents(self, count: int, num_bytes: int) -> str:
        return f"{self._checkpoints(count)}, {self.bytes(num_bytes)}"

    def store_owner(self, host: str, pid: int, is_training: bool, is_here: bool) -> str:
        if not is_here:
            return f"the last training to save here had pid {pid} on {host}; it may still run there"
        if is_training:
            return f"the training with pid {pid} on {host} saves here"
        return f"process {pid} on {host} finishes for a training that is gone"

    def store_leftovers(self, count: int, num_bytes: int, is_owned: bool) -> str:
        files = "1 unfinished file" if count == 1 else f"{self.number(count)} unfinished files"
        if is_owned:
            return f"{files} ({self.bytes(num_bytes)}): being written."
        return (
            f"{files} ({self.bytes(num_bytes)}), left by a crash: the next training deletes "
            f"{'it' if count == 1 else 'them'}."
        )

    def store_strays(self, count: int, num_bytes: int) -> str:
        strays, whose, them = "1 stray manifest", "its checkpoint is", "it"
        if count > 1:
            strays, whose = f"{self.number(count)} stray manifests", "their checkpoints are"
            them = "them"
        size = self.bytes(num_bytes)
        return f"{strays} ({size}): {whose} gone. The next training deletes {them}."

    def store_verdict(self, num_whole: int, num_bytes: int) -> str:
        return (
            f"{self._checkpoints(num_whole)} to the last byte as written "
            f"({self.bytes(num_bytes)} read)."
        )

    def store_not_compared(self, count: int) -> str:
        return f"{self._without_manifest(count)}: not compared with anything."

    def store_damage(self, num_damaged: int) -> str:
        return f"{self._checkpoints(num_damaged)} damaged."

    def store_unreadable(self, count: int) -> str:
        return f"{self._checkpoints(count)} could not be read."

    def store_pieces(self, why: str, num_damaged: int, num_pieces: int) -> str:
        return f"{why} ({self.number(num_damaged)} of {self.number(num_pieces)} pieces)"

    def store_pruned(self, count: int, num_bytes: int, num_kept: int, is_dry: bool) -> str:
        if not count:
            return f"Nothing to delete: {self._checkpoints(num_kept)} to keep."
        would = "would go" if is_dry else "deleted"
        return (
            f"{self._checkpoints(count)} {would} ({self.bytes(num_bytes)}), "
            f"{self.number(num_kept)} kept."
        )

    def store_base_of(self, steps: str, num_others: int) -> str:
        return f"kept: base of {steps}{self._more(num_others)}"

    def store_foreign(self, count: int) -> str:
        copy = "a copy" if count == 1 else "copies"
        return (
            f"{self._without_manifest(count)}, left alone: not instride's, or {copy} without the "
            "hidden `.instride`."
        )

    def _without_manifest(self, count: int) -> str:
        return f"{'1 file' if count == 1 else f'{self.number(count)} files'} without a manifest"

    def store_exported(self, count: int, num_bytes: int, path: str) -> str:
        tensors = "1 tensor" if count == 1 else f"{self.number(count)} tensors"
        return f"{tensors} ({self.bytes(num_bytes)}) written to {path}"

    def store_copied(self, names: str, num_others: int) -> str:
        return (
            "The format knows no shared memory: these were written one by one: "
            f"{names}{self._more(num_others)}."
        )

    def store_left_out(self, names: str, num_others: int) -> str:
        return f"Left out, for they are no tensors: {names}{self._more(num_others)}."

    def _checkpoints(self, count: int) -> str:
        return "1 checkpoint" if count == 1 else f"{self.number(count)} checkpoints"

    def _more(self, count: int) -> str:
        return f" and {self.number(count)} more" if count else ""
