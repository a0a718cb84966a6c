"""The screen of `instride list`: checkpoints, who saves here, what a crash left."""

from __future__ import annotations

from rich.console import Console

from instride.cli.render.store import StoreScreen
from instride.cli.render.table import print_table
from instride.explain.languages.words import Words
from instride.store.listing import CheckpointEntry, Listing

HEADS = ("step", "size", "age", "metric", "paid", "durable")


def print_listing(listing: Listing, words: Words, console: Console | None = None) -> None:
    screen = StoreScreen(words, console)
    say, sheet = screen.words, screen.sheet
    contents = say.store_contents(len(listing.checkpoints), listing.total_bytes)
    screen.title(listing.directory, contents)
    _print_owner(screen, listing)
    sheet.blank()
    if listing.checkpoints:
        print_table(
            sheet,
            [screen.phrases[head] for head in HEADS],
            [_cells(screen, entry) for entry in listing.checkpoints],
            [_mark(screen, entry) for entry in listing.checkpoints],
            dispensable=3,
        )
        sheet.blank()
        sheet.paragraph(screen.phrases["ends"], "  ")
    else:
        sheet.line(screen.phrases["empty"])
    if listing.leftovers:
        num_bytes = sum(each.size_bytes for each in listing.leftovers)
        is_owned = listing.owner is not None
        left = say.store_leftovers(len(listing.leftovers), num_bytes, is_owned)
        sheet.paragraph(left, "  ")
    sheet.blank()
    has_ours = any(entry.state != "foreign" for entry in listing.checkpoints)
    command, note = ("verify", "next.verify") if has_ours else ("explain", "next.explain")
    screen.next(f"instride {command} DIR", listing.directory, note)


def _print_owner(screen: StoreScreen, listing: Listing) -> None:
    owner = listing.owner
    if owner is None:
        screen.sheet.line((screen.phrases["nobody"], "dim"))
        return
    pid = owner.trainer_pid if owner.is_training else owner.writer_pid
    screen.sheet.paragraph(screen.words.store_owner(owner.host, pid, owner.is_training), "")


def _cells(screen: StoreScreen, entry: CheckpointEntry) -> list[str]:
    say = screen.words
    return [
        str(entry.step),
        say.bytes(entry.size_bytes),
        say.store_age(entry.age_s),
        screen.metric(entry.metric),
        "" if entry.call_s is None else say.seconds(entry.call_s),
        "" if entry.durable_s is None else say.seconds(entry.durable_s),
    ]


def _mark(screen: StoreScreen, entry: CheckpointEntry) -> tuple[str, str]:
    if entry.state != "committed":
        return screen.mark(entry.state)
    names = [
        name for name, is_so in (("newest", entry.is_newest), ("latest", entry.is_latest)) if is_so
    ]
    if not names:
        return "", ""
    return ", ".join(screen.phrases[name] for name in names), screen.mark(names[0])[1]
