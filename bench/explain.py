"""How fast `instride explain` reads, and in how much memory, beside what no reader can beat.

    python -m bench.explain --size 1GB --dialect nanogpt

Makes its own logs (`bench/logs.py`), runs everything on one core, and shows the floor: `wc -l` and
a Python loop that does nothing with the lines. What a user waits for at the prompt is measured
too: `--help`, and a log of 100 KB.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.logs import DIALECTS, write_log

RESULTS = Path(__file__).parent / "results" / "explain.md"
INSTRIDE = [sys.executable, "-m", "instride"]
PYTHON_LOOP = "import sys\nfor line in open(sys.argv[1], errors='replace'): pass"
SMALL_BYTES = 100_000
SMALL_REPEATS = 15
ANSWERED = (0, 1)
"""How a command ends that did what it was asked for: doctor says with 1 that it found something."""
RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


@dataclass(frozen=True)
class Row:
    """One line of the table; times are medians."""

    what: str
    seconds: float
    fastest_s: float
    slowest_s: float
    num_bytes: int | None = None
    peak_bytes: int | None = None
    """The largest of all runs. A child starts as a copy of this program and is charged for its
    pages, so what stays below them (some 20 MB) is not known."""

    @property
    def cells(self) -> tuple[str, ...]:
        return (
            self.what,
            _seconds(self.seconds),
            f"{_seconds(self.fastest_s)} - {_seconds(self.slowest_s)}",
            f"{self.num_bytes / self.seconds / 1e6:,.0f}" if self.num_bytes else "",
            f"{self.peak_bytes / 1e6:,.0f}" if self.peak_bytes else "",
        )


def _seconds(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def size_in_bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMG]?)B?", text.upper())
    if found is None:
        raise argparse.ArgumentTypeError(f"`{text}` is no size; write 100MB or 1GB")
    return int(float(found[1]) * UNITS[found[2]])


def run_once(command: Sequence[str]) -> tuple[float, int]:
    """Wall seconds and peak resident bytes of one run; a failure ends the benchmark."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in ANSWERED:
            errors.seek(0)
            said = errors.read()[-2000:].decode(errors="replace")
            raise SystemExit(f"{shlex.join(command)} ended with {process.returncode}\n{said}")
    return seconds, usage.ru_maxrss * RSS_UNIT_BYTES


def measure(what: str, command: Sequence[str], repeats: int, num_bytes: int | None = None) -> Row:
    times, peaks = zip(*(run_once(command) for _ in range(repeats)), strict=True)
    own_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT_BYTES
    peak_bytes = max(peaks) if max(peaks) > 1.05 * own_bytes else None
    return Row(what, statistics.median(times), min(times), max(times), num_bytes, peak_bytes)


def measure_log(dialect: str, num_bytes: int, repeats: int, directory: Path) -> list[Row]:
    log = directory / f"{dialect}.log"
    _say(f"writing {num_bytes / 1e6:,.0f} MB of {dialect}")
    write_log(log, dialect, num_bytes)
    size = log.stat().st_size
    run_once(["wc", "-l", str(log)])  # from here on, every run finds the file in memory
    rows = []
    for what, command in (
        (f"explain, {dialect}", [*INSTRIDE, "explain", str(log), "--json"]),
        (f"a Python loop, {dialect}", [sys.executable, "-c", PYTHON_LOOP, str(log)]),
        (f"wc -l, {dialect}", ["wc", "-l", str(log)]),
    ):
        _say(f"measuring {what}")
        rows.append(measure(what, command, repeats, size))
    log.unlink()
    return rows


def measure_prompt(directory: Path) -> list[Row]:
    log = directory / "small.log"
    write_log(log, "nanogpt", SMALL_BYTES)
    rows = []
    for what, command in (
        ("explain, nanogpt, 100 KB", [*INSTRIDE, "explain", str(log)]),
        ("--help", [*INSTRIDE, "--help"]),
        ("explain --help", [*INSTRIDE, "explain", "--help"]),
        ("python -c pass", [sys.executable, "-c", "pass"]),
    ):
        _say(f"measuring {what}")
        run_once(command)  # compiles the modules to .pyc on the first call
        rows.append(measure(what, command, SMALL_REPEATS))
    return rows


def machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and (found := re.search(r"model name\s*: (.+)", cpuinfo.read_text())):
        model = found[1]
    return (
        f"{os.cpu_count()} cores, {model}; {platform.system()}, Python {platform.python_version()}"
    )


def pin_to_one_core() -> None:
    """This process and all it starts; so the figures do not depend on the number of cores."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def table(rows: Sequence[Row]) -> str:
    heads = ("what", "median", "fastest - slowest", "MB/s", "peak MB")
    lines = [heads, *(row.cells for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    ruler = tuple(
        "-" * width if column == 0 else "-" * (width - 1) + ":"
        for column, width in enumerate(widths)
    )
    return "\n".join(
        "| "
        + " | ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        + " |"
        for line in (heads, ruler, *lines[1:])
    )


def record(rows: Sequence[Row], options: argparse.Namespace) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(
        "# explain: speed and memory\n\n"
        f"{machine()}; {datetime.date.today():%Y-%m-%d}.\n"
        "Each run on one core, the file in memory already: "
        f"{options.repeats} runs of the large logs, {SMALL_REPEATS} of the rest.\n"
        "Memory that is no more than what the benchmark itself takes is left out.\n\n"
        f"    python -m bench.explain {shlex.join(sys.argv[1:])}\n\n"
        f"{table(rows)}\n"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.explain", description="Measures instride explain.")
    parser.add_argument("--size", type=size_in_bytes, default="100MB", help="of a log: 100MB, 1GB")
    parser.add_argument("--dialect", choices=DIALECTS, action="append", help="default: all")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each large log")
    parser.add_argument("--json", action="store_true", help="numbers instead of the table")
    parser.add_argument("--record", action="store_true", help="write bench/results/explain.md")
    return parser.parse_args()


def main() -> None:
    options = parse()
    pin_to_one_core()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="instride-bench-") as scratch:
        for dialect in options.dialect or DIALECTS:
            rows += measure_log(dialect, options.size, options.repeats, Path(scratch))
        rows += measure_prompt(Path(scratch))
    if options.json:
        print(json.dumps({"machine": machine(), "rows": [asdict(row) for row in rows]}, indent=2))
    else:
        print(f"{machine()}; one core\n\n{table(rows)}")
    if options.record:
        record(rows, options)


if __name__ == "__main__":
    main()
