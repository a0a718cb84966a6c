"""What `instride bench save` has to tell of saves of ours and the way back, on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from instride.bench.names import OURS
from instride.bench.report import Decided, Often, RoundTrip
from instride.cli.render.bench_page import show_bytes, show_s


def round_trip_notes(trip: RoundTrip) -> Iterator[str]:
    before_s, after_s = median(trip.steps_before_s), median(trip.steps_after_s)
    yield (
        f"{OURS}, there and back: done in {_each(trip.done_s)}, the first of a Saver in "
        f"{_each(trip.first_done_s)}, in turn with bare writing in {_each(trip.direct_write_s)}; "
        f"restored in {_each(trip.restore_s)}, in turn with bare reading in "
        f"{_each(trip.direct_read_s)}; a step takes {show_s(after_s)} after that and "
        f"took {show_s(before_s)} before; `prepare_cost_s` said "
        f"{_each(trip.prepare_told_s)}"
    )
    saves = (
        ("first", trip.first_done_s, trip.first_decided),
        ("next", trip.done_s, trip.decided),
    )
    for which, done_s, decided in saves:
        for number, (took_s, decisions) in enumerate(zip(done_s, decided, strict=True), 1):
            said = "; ".join(map(_decision, decisions)) or "nothing"
            yield f"the governor in the {which} save of Saver {number}, {show_s(took_s)}: {said}"


def often_note(often: Often) -> str:
    shares, noise = (
        ", ".join(f"{100 * share:.2f} %" for share in each) for each in (often.shares, often.noise)
    )
    skipped = f", {often.num_skipped} skipped, because the disk was not ready"
    if often.skipped_call_s:
        skipped += f" (to be told so takes {show_s(median(often.skipped_call_s))})"
    return (
        f"{OURS}, a save every ten steps: each costs {shares} of them, where stretches without any "
        f"differ by {noise}; {often.num_saved} saved{skipped}"
    )


def _decision(decided: Decided) -> str:
    since = f"from {show_s(decided.after_s)} on" if decided.after_s else "at first"
    threads = "1 thread" if decided.threads == 1 else f"{decided.threads} threads"
    limit = "" if decided.bytes_per_s is None else f", at most {show_bytes(decided.bytes_per_s)}/s"
    return f"{since} {threads} for {100 * decided.duty:.0f} % of the time{limit} ({decided.reason})"


def _each(seconds: list[float]) -> str:
    return ", ".join(map(show_s, seconds))
