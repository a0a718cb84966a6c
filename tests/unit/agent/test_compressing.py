"""One file: compared with its original before it has a name, in bounded memory, or not at all."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from instride.agent.compressing import PASSES, ChangedError, Means, Order, compress
from instride.agent.packing import pack
from instride.agent.wholeness import Identity
from instride.errors import DamagedError
from instride.framed.blocks import BlockFile
from instride.framed.codecs import Zstd
from instride.framed.container import FRAME_BYTES
from instride.framed.reading import open_framed, verify_framed
from instride.governor.pace import Pace, StoppedError
from instride.pack.reading import PackFile
from instride.store.manifest import TAIL_BYTES, read_manifest
from instride.store.verifying import verify
from tests.crash.mounts import mounted
from tests.unit.agent.agents import names_in
from tests.unit.framed.frames import Counted, some_bytes
from tests.unit.store.committing import flip

DATA = some_bytes(3 * FRAME_BYTES + 777)


def order_for(source: Path, suffix: str = ".zst") -> Order:
    final = source.with_name(source.name + suffix)
    return Order(source, final, Identity.of(source.stat()), lambda manifest: manifest)


def means(advance: Callable[[int], None] = lambda _: None, pace: Pace | None = None) -> Means:
    return Means(Zstd, pace or Pace(), 2, advance)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.pt"
    path.write_bytes(DATA)
    return path


@pytest.mark.parametrize(("make", "suffix"), [(compress, ".zst"), (pack, ".pack")])
def test_every_byte_is_worked_on_twice_and_the_manifest_fits(
    source: Path, make: Callable[[Order, Means], int], suffix: str
) -> None:
    done = Counted()
    order = order_for(source, suffix)
    size = make(order, means(done))
    assert size == order.final.stat().st_size
    assert done.num_bytes == PASSES * len(DATA)
    manifest = read_manifest(order.final)
    assert manifest is not None
    assert manifest.original_bytes == len(DATA)
    verify(order.final)


@pytest.mark.parametrize(
    ("make", "suffix", "open_made"),
    [(compress, ".zst", open_framed), (pack, ".pack", PackFile)],
)
def test_whoever_is_short_of_time_makes_it_larger_and_just_as_good(
    source: Path,
    make: Callable[[Order, Means], int],
    suffix: str,
    open_made: Callable[[Path], BlockFile],
) -> None:
    data = b"".join(b"loss %d, " % (number * 7919 % 1009) for number in range(300_000))
    source.write_bytes(data)
    sizes = []
    for codec_step in (0, 1):
        pace = Pace()
        pace.codec_step = codec_step
        order = order_for(source, suffix)
        sizes.append(make(order, means(pace=pace)))
        verify(order.final)
        with open_made(order.final) as made:
            assert made.read() == data
        order.final.unlink()
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("make", [compress, pack])
def test_an_original_that_changes_meanwhile_leaves_nothing(
    source: Path, make: Callable[[Order, Means], int]
) -> None:
    def overwrite(_: int) -> None:
        source.write_bytes(bytes(len(DATA)))

    with pytest.raises((ChangedError, DamagedError)):
        make(order_for(source), means(overwrite))
    assert list(source.parent.iterdir()) == [source]


def test_an_original_that_vanishes_meanwhile_leaves_nothing(source: Path) -> None:
    with pytest.raises(ChangedError):
        compress(order_for(source), means(lambda _: source.unlink(missing_ok=True)))
    assert list(source.parent.iterdir()) == []


def test_an_original_that_becomes_shorter_leaves_nothing(source: Path) -> None:
    with pytest.raises(ChangedError):
        compress(order_for(source), means(lambda _: os.truncate(source, 100)))
    assert list(source.parent.iterdir()) == [source]


def test_work_that_is_called_off_leaves_nothing(source: Path) -> None:
    pace = Pace()
    with pytest.raises(StoppedError):
        compress(order_for(source), means(lambda _: pace.stop(), pace))
    assert list(source.parent.iterdir()) == [source]


def test_a_bit_that_flips_on_the_disk_is_found_before_there_is_a_name(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flip_when(phase: str) -> None:
        if phase == "agent.synced":
            (path,) = source.parent.glob(".a.pt.zst.*.tmp")
            flip(path, 1000)

    monkeypatch.setattr("instride.agent.appending.reached", flip_when)
    with pytest.raises(DamagedError, match="the bytes from"):
        compress(order_for(source), means())
    assert list(source.parent.iterdir()) == [source]


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
def test_a_disk_that_fills_up_half_way_leaves_nothing(tmp_path: Path, kind: str) -> None:
    with mounted(kind, tmp_path / "disk", 64 << 20) as disk:
        source = disk / "a.pt"
        source.write_bytes(os.urandom(24 << 20))

        def fill(_: int) -> None:
            with (disk / "ballast").open("ab", buffering=0) as file:
                try:
                    while True:
                        file.write(bytes(1 << 16))
                except OSError:
                    return

        with pytest.raises(OSError, match="No space left"):
            compress(order_for(source), means(fill))
        assert [name for name in names_in(disk) if name != "lost+found"] == ["a.pt", "ballast"]
        assert not list(disk.glob(".*.tmp"))
        (disk / "ballast").unlink()
        order = order_for(source)
        compress(order, means())
        verify_framed(order.final)


MEASURED = """
import sys
from pathlib import Path
from instride.agent import pacing
from instride.agent.compressing import Means, Order, compress
from instride.agent.wholeness import Identity
from instride.framed.codecs import Lz4, Zstd
from instride.governor.pace import Pace
import instride.agent.reconciling

pacing.usable_cores = lambda: 64
source, format, level = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
order = Order(source, Path(sys.argv[1] + ".made"), Identity.of(source.stat()), lambda made: made)
codec = (lambda: Lz4(level)) if format == "lz4" else (lambda: Zstd(level))
means = Means(codec, Pace(), pacing.num_threads(level), lambda _: None)
if format == "pack":
    from instride.agent.packing import pack
    pack(order, means)
else:
    compress(order, means)
for line in open("/proc/self/status"):
    if line.startswith("VmHWM"):
        print(int(line.split()[1]) * 1024)
"""


def peak_bytes(source: Path, format: str, level: int) -> int:
    """The most memory that a process of its own has held; measured by itself, since what is
    started inherits the peak of who starts it."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, source, format, str(level)],
        capture_output=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.parametrize(
    ("format", "level"), [("zstd", 1), ("zstd", 9), ("zstd", 22), ("lz4", 0), ("pack", 1)]
)
def test_memory_does_not_grow_with_the_file(tmp_path: Path, format: str, level: int) -> None:
    """With as many threads as a machine with many cores would have, and enough for all of them to
    do in the smaller file too."""
    piece = os.urandom(1 << 20)
    peaks = []
    for num_pieces in (24, 96) if level > 9 else (120, 220):
        path = tmp_path / f"{num_pieces}.pt"
        with path.open("wb") as file:
            for _ in range(num_pieces):
                file.write(piece)
        peaks.append(peak_bytes(path, format, level))
    assert max(peaks) <= 256 << 20
    assert peaks[1] - peaks[0] < 24 << 20


def test_what_was_read_and_written_leaves_the_page_cache_alone(source: Path) -> None:
    order = order_for(source)
    compress(order, means())
    assert cached_pages(source) == 0
    assert (
        cached_pages(order.final) <= TAIL_BYTES // mmap.PAGESIZE + 1
    )  # its end names its manifest


def cached_pages(path: Path) -> int:
    """By the program of util-linux that asks the kernel."""
    try:
        done = subprocess.run(
            ["fincore", "--noheadings", "--raw", "--output", "PAGES", path],
            capture_output=True,
            check=True,
        )
    except FileNotFoundError:
        pytest.skip("there is no fincore on this machine")
    return int(done.stdout)
