"""The writer's main thread: hears the trainer, watches whether it lives, and owns the store."""

from __future__ import annotations

import os
import selectors
import signal
import socket
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from instride.faults import reached
from instride.store.lock import is_running
from instride.system.striped import NUM_FILES
from instride.writer.arena import ArenaMap
from instride.writer.committing import Commits
from instride.writer.deleting import Deleting
from instride.writer.governing import crews
from instride.writer.journal import Journal, journal_path
from instride.writer.owning import Ownership
from instride.writer.packs import Packs
from instride.writer.page import SharedPage
from instride.writer.protocol import (
    VERSION,
    Begin,
    Cancel,
    Close,
    Finish,
    Hello,
    Hurry,
    Notice,
    Ready,
    ToWriter,
    Wire,
)
from instride.writer.telling import Told
from instride.writer.working import Inbox, Work
from instride.writer.writing import Job

GREETING_S = 60.0
"""It is sent as soon as there is a writer, which holds no store before it."""
NO_LOCKS_HERE = (
    "the filesystem of the checkpoints has no locks: two trainings that save into one directory "
    "are only noticed if they run on the same machine",
    "give each training a directory of its own; on Lustre, the mount option `flock` brings locks",
)


def run(wire: Wire) -> int:
    """Serve one trainer until it is gone and everything that it staged is committed."""
    # A terminal that closes, and a scheduler that asks all processes of a job to end, are the
    # trainer's affair: what it staged is committed in the time that is left, and then we end.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    reached("started")
    hello = greeting(wire)
    if not isinstance(hello, Hello) or hello.version != VERSION:
        return 1
    if len(wire.descriptors) != 1 + NUM_FILES:
        return 1
    page_fd, *arena_fds = wire.descriptors
    page, arena = SharedPage(page_fd), ArenaMap(arena_fds)
    trainer = watch(hello)
    if trainer is None:
        return 0
    directory = Path(hello.directory) if hello.directory is not None else None
    ownership = Ownership(directory, hello) if directory is not None else None
    problem = None
    try:
        if ownership is not None and not ownership.take(wire):
            return 0
    except OSError as error:
        # Training must be able to start: saves will fail, and say so, until this is mended.
        problem = f"{directory}: {error.strerror}"
    reached("locked")
    journal = Journal(journal_path(directory), page) if directory is not None else None
    told = Told(wire, journal)
    crew, packing_crew = crews(hello, page, told)
    commits = Commits(directory, hello.keep, page, crew)
    inbox: Inbox = SimpleQueue()
    packs = Packs(
        directory if hello.packs else None,
        hello.keep,
        page,
        packing_crew,
        told,
        ownership,
        inbox.put,
    )
    deleting = Deleting(directory, crew, told)
    work = Work(commits, crew, arena, told, deleting, ownership, packs, inbox)
    if not problem:
        work.announce(hello)
    told.tell(Ready(os.getpid(), problem))
    if ownership is not None and ownership.is_by_name:
        told.tell(Notice("no-locks", *NO_LOCKS_HERE))
    reached("ready")
    listen(wire, trainer, work)
    if ownership is not None:
        ownership.leave()
    work.drain()
    if journal is not None:
        journal.close()
    return 0


def greeting(wire: Wire) -> object:
    """The first message; None if it does not come: whom to watch is not known before."""
    wire.socket.settimeout(GREETING_S)
    try:
        return wire.receive()
    except TimeoutError:
        return None
    finally:
        wire.socket.settimeout(None)


def watch(hello: Hello) -> int | None:
    """A descriptor that tells when the trainer is gone; None if it is already."""
    try:
        trainer = os.pidfd_open(hello.trainer_pid)
    except ProcessLookupError:
        return None
    return trainer if is_running(hello.trainer_pid, hello.trainer_started) else None


def listen(wire: Wire, trainer: int, work: Work) -> None:
    """Hand messages on until the trainer says goodbye or is gone."""
    with selectors.DefaultSelector() as selector:
        selector.register(wire.socket, selectors.EVENT_READ)
        selector.register(trainer, selectors.EVENT_READ)
        goes_on = hear(wire, work)  # it may have come with the greeting
        while goes_on:
            ready = {key.fd for key, _ in selector.select()}
            goes_on = hear(wire, work)
            if trainer in ready:
                # A child that the trainer forked may hold its end open for ever, and never read:
                # neither more of a message is waited for, nor that somebody takes what we say.
                with suppress(OSError):
                    wire.socket.shutdown(socket.SHUT_RDWR)
                work.give_up("the trainer is gone")
                return
    work.give_up("the trainer closed the connection")


def hear(wire: Wire, work: Work) -> bool:
    """Take everything that has come, and wait for nothing, as whoever has sent half a message may
    be gone; False after the last message of all."""
    while True:
        for message in wire.taken_in():
            if not handle(message, work):
                return False
        try:
            if not wire.read_ready():
                return True
        except (EOFError, ConnectionError):
            return False


def handle(message: ToWriter | object, work: Work) -> bool:
    """Act on a message; False after the last one."""
    match message:
        case Begin():
            reached("begun")
            work.add(Job(message))
        case Finish():
            work.finish(message)
        case Cancel():
            work.cancel(message.id)
        case Hurry():
            work.hurry(message.id)
        case Close():
            work.leave()
            return False
    return True
