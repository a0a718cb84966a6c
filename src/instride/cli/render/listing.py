"""The screen of `instride list`: checkpoints, who saves here, what a crash left."""

from __future__ import annotations

from rich.console import Console

from instride.cli.render.store import StoreScreen
from instride.cli.render.table import print_table
from instride.doctor.printable import printable
from instride.explain.languages.words import Words
from instride.store.listing import CheckpointEntry, Listing, PackEntry

HEADS = ("step", "size", "age", "metric", "paid", "durable")


def print_listing(listing: Listing, words: Words, console: Console | None = None) -> None:
    screen = StoreScreen(words, console)
    say, sheet = screen.words, screen.sheet
    num_bytes = listing.total_bytes + sum(pack.size_bytes for pack in listing.packs)
    contents = say.store_contents(len(listing.checkpoints) + len(listing.packs), num_bytes)
    screen.title(listing.directory, contents)
    if listing.owner is None:
        sheet.line((screen.phrases["nobody"], "dim"))
    else:
        screen.owner(listing.owner)
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
        num_foreign = sum(entry.state == "foreign" for entry in listing.checkpoints)
        if num_foreign:
            sheet.paragraph(say.store_foreign(num_foreign), "  ")
    elif not listing.packs:
        sheet.line(screen.phrases["empty"])
    for pack in listing.packs:
        _print_pack(screen, pack)
    if listing.is_latest_stale:
        screen.stale_latest(listing.directory)
    strays = [each for each in listing.leftovers if each.is_stray_manifest]
    unfinished = [each for each in listing.leftovers if not each.is_stray_manifest]
    if unfinished:
        num_bytes = sum(each.size_bytes for each in unfinished)
        is_owned = listing.owner is not None
        sheet.paragraph(say.store_leftovers(len(unfinished), num_bytes, is_owned), "  ")
    if strays:
        num_bytes = sum(each.size_bytes for each in strays)
        sheet.paragraph(say.store_strays(len(strays), num_bytes), "  ")
    sheet.blank()
    has_ours = any(entry.state != "foreign" for entry in listing.checkpoints)
    command, note = "instride doctor --checkpoints DIR", "next.doctor"
    if has_ours or listing.packs:
        command, note = "instride verify DIR", "next.verify"
    screen.next(command, listing.directory, note)


def _print_pack(screen: StoreScreen, pack: PackEntry) -> None:
    words = [screen.words.bytes(pack.size_bytes)]
    if pack.ratio is not None:
        words.append(_packed(screen, pack.ratio, pack.base))
    style = ""
    if pack.is_damaged:
        text, style = screen.mark("damaged")
        words.append(text)
    screen.sheet.line(f"  {printable(pack.name)}  ", (", ".join(words), style))


def _packed(screen: StoreScreen, ratio: float, base: str | None) -> str:
    return screen.words.pack_mark(ratio, None if base is None else printable(base))


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
    marks = [screen.phrases[name] for name in names]
    if entry.is_base_gone:
        gone, style = screen.mark("baseless")
        marks.append(f"{gone}{screen.words.colon}{printable(entry.base or '')}")
        return ", ".join(marks), style
    if entry.ratio is not None:
        marks.append(_packed(screen, entry.ratio, entry.base))
    return ", ".join(marks), screen.mark(names[0])[1] if names else ""
