"""How long `instride doctor` takes on a repository that it makes itself, without probes.

python -m bench.doctor --files 1500 --record
"""

from __future__ import annotations

import argparse
import datetime
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.explain import INSTRIDE, Row, machine, measure, pin_to_one_core, table
from bench.repositories import write_repository

RESULTS = Path(__file__).parent / "results" / "doctor.md"
PARSE = (
    "import ast, pathlib, sys\n"
    "for path in pathlib.Path(sys.argv[1]).rglob('*.py'): ast.parse(path.read_bytes())"
)
"""What no reader of Python can be faster than."""


def measure_repository(num_files: int, repeats: int, scratch: Path) -> list[Row]:
    size = write_repository(scratch, num_files)
    doctor = [*INSTRIDE, "doctor", str(scratch), "--no-probe", "--json"]
    _refuse_if_cut(doctor)  # from here on, every run finds the files in memory
    return [
        measure(f"doctor, {num_files:,} files", doctor, repeats, size),
        measure(
            "ast.parse of the Python in it", [sys.executable, "-c", PARSE, str(scratch)], repeats
        ),
    ]


def _refuse_if_cut(command: Sequence[str]) -> None:
    """A run that the deadline has cut is no measurement."""
    answer = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
    if any(each["id"] in {"cut-short", "skipped-time"} for each in answer["unknown"]):
        raise SystemExit("the time was up before all was looked at: the machine is too busy")


def record(rows: Sequence[Row], repeats: int) -> None:
    RESULTS.write_text(
        "# doctor: speed and memory\n\n"
        f"{machine()}; {datetime.date.today():%Y-%m-%d}.\n"
        f"Each of {repeats} runs on one core, the files in memory already, the machine's own rules "
        "included, without probes.\n\n"
        f"    python -m bench.doctor {shlex.join(sys.argv[1:])}\n\n"
        f"{table(rows)}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.doctor", description="Measures instride doctor.")
    parser.add_argument("--files", type=int, default=1500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--record", action="store_true", help="write bench/results/doctor.md")
    options = parser.parse_args()
    pin_to_one_core()
    with tempfile.TemporaryDirectory(prefix="instride-bench-") as scratch:
        rows = measure_repository(options.files, options.repeats, Path(scratch))
    print(f"{machine()}; one core\n\n{table(rows)}")
    if options.record:
        record(rows, options.repeats)


if __name__ == "__main__":
    main()
