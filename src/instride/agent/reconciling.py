"""The agent: looks at its directories, does the next thing that is to be done, and looks again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from instride.agent.configuration import Configuration
from instride.agent.making import check_codec
from instride.agent.notifying import Service
from instride.agent.pacing import Governing
from instride.agent.status import Doing, Live, live_now, write_live
from instride.agent.surroundings import lacks
from instride.agent.telling import Progress, Reporter, saved_text
from instride.agent.tending import Tending
from instride.agent.waking import Waker, has_events
from instride.agent.wholeness import SETTLED_S, writers
from instride.errors import NoStoreError
from instride.governor.model import Decision
from instride.governor.pace import StoppedError
from instride.governor.yielding import yield_process
from instride.reasons import Reason

STATUS_EVERY_S = 1.0
IDLE_STATUS_EVERY_S = 30.0


class Agent:
    """Lives until `stop` is called; with `run(is_once=True)` until nothing is left to do."""

    def __init__(self, configuration: Configuration, reporter: Reporter) -> None:
        """Raises MissingLibraryError if the codec is not installed."""
        check_codec(configuration)
        self._configuration = configuration
        self._reporter = reporter
        self._service = Service()
        self._waker = Waker()
        self._stopped = threading.Event()
        self._since_s = time.time()
        self._written_s = float("-inf")
        self._governing = Governing(configuration, self._note_decision)
        self._at_work: Tending | None = None
        self._tendings = [
            Tending(directory, configuration, self._governing, reporter, self._tick)
            for directory in _distinct(configuration.directories)
        ]
        self._is_ready = False
        self.num_rounds = 0
        """How often all directories were looked at."""
        self._ordered_s = time.monotonic()
        self._is_ordering = False

    def stop(self) -> None:
        """End as soon as nothing is half done; from another thread than the one that runs."""
        self._stopped.set()
        self._governing.stop()
        self._waker.wake()

    def run(self, *, is_once: bool = False) -> None:
        """Raises StoreInUseError if a training or another agent that lives owns a directory."""
        try:
            for tending in self._tendings:
                _check(tending.directory, must_exist=is_once)
                tending.claim()
            self._see_trainers()
            self._prepare()
            self._is_ready = True
            self._service.ready()
            self._loop(is_once)
        except StoppedError:
            pass
        finally:
            self._end()

    def _prepare(self) -> None:
        trainers = self._governing.trainers.alive() or []
        for note in yield_process(trainers, self._tendings[0].directory):
            self._reporter.line(f"note: {note}")
        directories = [tending.directory for tending in self._tendings]
        for lack in lacks(self._configuration, directories):
            self._reporter.line(f"note: {lack}")

    def _loop(self, is_once: bool) -> None:
        while not self._stopped.is_set():
            did_something = False
            for tending in self._tendings:
                did_something |= self._tend(tending)
                if self._stopped.is_set():
                    return
            self.num_rounds += 1
            if did_something:
                continue
            is_settling = any(tending.is_settling for tending in self._tendings)
            if is_once and not is_settling:
                self._say_what_is_left()
                return
            self._tick()
            self._see_trainers()
            self._waker.watch([t.directory for t in self._tendings if has_events(t.directory)])
            interval_s = self._configuration.interval_s
            self._waker.wait(min(interval_s, SETTLED_S if is_settling else interval_s))

    def _say_what_is_left(self) -> None:
        for tending in self._tendings:
            for name in tending.being_written:
                self._reporter.line(f"{name} is being written: it is left for the next time")

    def _see_trainers(self) -> None:
        """Who writes the log is, or belongs to, the training."""
        log = self._configuration.log
        if log is not None and not self._governing.trainers.alive():
            self._governing.trainers.saw(writers([log]).of(log))

    def _tend(self, tending: Tending) -> bool:
        self._at_work = tending
        try:
            return tending.tend()
        except OSError as error:
            why = error.strerror or str(error)
            tending.teller.tell_once(
                f"failed {why}", "failed", f"{tending.directory} cannot be looked at: {why}"
            )
            return False
        finally:
            self._at_work = None

    def _tick(self) -> None:
        """Signs of life: for systemd, for `agent status`, for whoever looks on."""
        self._service.alive()
        progress = self._progress()
        self._reporter.progress(progress)
        now_s = time.monotonic()
        every_s = STATUS_EVERY_S if progress else IDLE_STATUS_EVERY_S
        if now_s - self._written_s >= every_s or self._stopped.is_set():
            self._written_s = now_s
            self._write_status()
            self._service.status(_sentence(progress))
        if progress is not None and now_s - self._ordered_s >= self._configuration.interval_s:
            self._keep_order()

    def _keep_order(self) -> None:
        """A file may take hours, held back as it is: what is to go must not wait for it."""
        if self._is_ordering:
            return  # asked for by what it does itself
        self._is_ordering = True
        try:
            for tending in self._tendings:
                tending.keep_order()
        finally:
            self._is_ordering = False
            self._ordered_s = time.monotonic()

    def _progress(self) -> Progress | None:
        tending = self._at_work
        progress = tending.shrinking.progress if tending else None
        if progress is None:
            return None
        return Progress(progress.file, progress.done_bytes, progress.total_bytes, self._why_slow())

    def _why_slow(self) -> str:
        decision = self._governing.decision()
        return decision.why if decision else ""

    def _write_status(self, *, is_over: bool = False) -> None:
        for tending in self._tendings:
            if tending.is_owned:
                with suppress(OSError):
                    write_live(tending.directory, self._live(tending, is_over=is_over))

    def _live(self, tending: Tending, *, is_over: bool) -> Live:
        configuration = self._configuration
        progress = tending.shrinking.progress
        decision = self._governing.decision()
        doing: Doing = "stopped" if is_over else "waiting" if tending.is_blocked else "looking"
        if progress is not None:
            doing = "compressing" if decision is None or decision.is_open else "waiting"
        return live_now(
            self._since_s,
            doing=doing,
            file=progress.file if progress else None,
            done_bytes=progress.done_bytes if progress else 0,
            total_bytes=progress.total_bytes if progress else 0,
            why=self._why_slow() if progress else "",
            pattern=configuration.pattern,
            format=configuration.format if configuration.is_compressing else None,
            keep=configuration.keep,
            removes_original=configuration.removes_original,
            others_prune=tending.others_prune,
            cost=self._governing.cost(),
        )

    def _note_decision(self, decision: Decision) -> None:
        """From the governor's thread."""
        tending = self._at_work
        if tending is not None:
            tending.teller.note("governor", **decision.fields())

    def _end(self) -> None:
        self._service.stopping()
        self._reporter.progress(None)
        self._waker.close()
        if self._is_ready:
            self._say_what_it_was()
        self._governing.close()
        for tending in self._tendings:
            tending.close()

    def _say_what_it_was(self) -> None:
        """The last line: what it cost, and what it brought."""
        cost = self._governing.cost()
        saved = sum(tending.tally.saved_bytes for tending in self._tendings)
        text = "nothing was compressed"
        if any(tending.tally.num_made for tending in self._tendings):
            stays = "" if self._configuration.removes_original else " once the originals go"
            text = cost.text if cost else "cost training: unknown"
            text += f", {saved_text(saved)}{stays if saved > 0 else ''}"
        self._reporter.line(text)
        for tending in self._tendings:
            if tending.is_owned:
                tending.teller.note("end", text=text, saved_bytes=saved)
        self._write_status(is_over=True)


def _check(directory: Path, *, must_exist: bool) -> None:
    """A directory may come later, but not what is there already and is none."""
    if directory.exists() and not directory.is_dir():
        raise NoStoreError(str(directory), Reason("os.ENOTDIR"))
    if must_exist and not directory.exists():
        raise NoStoreError(str(directory), Reason("os.ENOENT"))


def _distinct(directories: Iterable[Path]) -> Iterable[Path]:
    """Each directory once, however often and by whatever path it was named."""
    return {directory.resolve(): directory for directory in directories}.values()


def _sentence(progress: Progress | None) -> str:
    if progress is None:
        return "looking for checkpoints"
    share = 100 * progress.done_bytes // max(1, progress.total_bytes)
    return f"{progress.file}: {share} %" + (f", {progress.note}" if progress.note else "")
