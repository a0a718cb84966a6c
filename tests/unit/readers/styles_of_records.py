"""Records with fields, tables, other languages, and prefixes."""

from __future__ import annotations

from tests.unit.readers.styles import Style, millis, stamp

RECORDS = [
    Style(
        "JSON lines",
        lambda r: f'{{"loss": {r.loss:.3f}, "step": {r.n}, "step_time": {r.seconds}, "lr": 0.001}}',
        lambda n: n,
        "seconds",
        "step after `step`, seconds after `step_time`",
    ),
    Style(
        "JSON lines with a timestamp",
        lambda r: (
            f'{{"ts": "{r.when.isoformat()}", "level": "info", "global_step": {r.n * 5}, '
            f'"metrics": {{"loss": {r.loss:.3f}}}}}'
        ),
        lambda n: n * 5,
        "wall",
        "step after `global_step`",
    ),
    Style(
        "JSON lines with seconds since 1970",
        lambda r: (
            f'{{"iteration": {r.n}, "timestamp": {r.when.timestamp():.3f}, "loss": {r.loss:.3f}}}'
        ),
        lambda n: n,
        "wall",
        "timestamps after `timestamp`",
        within=0.0011,
    ),
    Style(
        "dicts of Python after a prefix",
        lambda r: f"[rank0]: {{'step': {r.n}, 'loss': {r.loss:.2f}, 'dt_ms': {r.ms:.1f}}}",
        lambda n: n,
        "seconds",
        "milliseconds after `dt_ms`",
    ),
    Style(
        "CSV",
        lambda r: f"{r.n},{r.loss:.3f},{r.seconds},0.001",
        lambda n: n,
        "seconds",
        "step in column `step`, seconds in column `step_time`",
        header="step,loss,step_time,lr",
    ),
    Style(
        "semicolons and a running clock",
        lambda r: f"{r.n // 4 + 1};{r.n % 4};{r.loss:.3f};{r.elapsed:.2f}",
        lambda n: n,
        "wall",
        "epochs in column `epoch`, time since the start in column `elapsed`",
        header="epoch;iteration;loss;elapsed",
        within=0.011,
    ),
    Style(
        "a table with bars",
        lambda r: f"| {r.n + 1} | {r.loss:.3f} | {r.ms:.1f} |",
        lambda n: n + 1,
        "seconds",
        "milliseconds in column `time (ms)`",
        header="| iter | loss | time (ms) |",
    ),
    Style(
        "columns with spaces and a time of the day",
        lambda r: f"{r.n * 3:6d}  {r.loss:8.4f}  {millis(r, '%H:%M:%S')}",
        lambda n: n * 3,
        "wall",
        "timestamps in column `time`",
        header="  iter      loss          time",
        within=0.0011,
    ),
    Style(
        "Chinese",
        lambda r: (
            f"\u7b2c{r.n * 10}\u6b65\uff0c\u635f\u5931 {r.loss:.3f}\uff0c"
            f"\u8017\u65f6 {r.seconds:.3f}\u79d2"
        ),
        lambda n: n * 10,
        "seconds",
        "seconds after `\u8017\u65f6`",
    ),
    Style(
        "Japanese",
        lambda r: (
            f"\u30b9\u30c6\u30c3\u30d7 {r.n}: \u640d\u5931={r.loss:.3f} "
            f"\u6642\u9593={r.ms:.0f}\u30df\u30ea\u79d2"
        ),
        lambda n: n,
        "seconds",
        "step after `\u30b9\u30c6\u30c3\u30d7`",
    ),
    Style(
        "German",
        lambda r: f"Schritt {r.n}: Verlust {r.loss:.3f}, Dauer {r.seconds:.2f} s",
        lambda n: n,
        "seconds",
        "seconds after `Dauer`",
        within=0.006,
    ),
    Style(
        "epoch and bracketed batch, time with its mean",
        lambda r: (
            f"Epoch: [{r.n // 7}][{r.n % 7 * 10:>3}/70]\tTime  {r.seconds:.3f} ( 0.702)\t"
            f"Data  0.004 ( 0.020)\tLoss {r.loss:.4e} (3.9e+00)"
        ),
        lambda n: n * 10,
        "seconds",
        "seconds after `Time`",
        every=10,
    ),
    Style(
        "step glued to its number",
        lambda r: f"==> step{r.n:06d} :: loss {r.loss:.3f} :: {r.seconds:.3f} sec",
        lambda n: n,
        "seconds",
        "step after `step`, seconds before `sec`",
    ),
    Style(
        "thousands and words that change",
        lambda r: (
            f"[{'warm' if r.n < 3 else 'steady'}] Steps done: {r.n * 1000:,} of 50,000, "
            f"reward {10 - r.loss:.2f}, iteration time {r.seconds:.2f} seconds"
        ),
        lambda n: n * 1000,
        "seconds",
        "step after `done`, seconds after `time`",
        within=0.006,
    ),
    Style(
        "a docker prefix",
        lambda r: f"{r.when.isoformat()}Z stdout F step: {r.n} loss: {r.loss:.3f}",
        lambda n: n,
        "wall",
        "timestamps on the lines",
    ),
    Style(
        "syslog",
        lambda r: (
            f"{stamp(r, '%b %d %H:%M:%S')} node7 train[4711]: iter={r.n * 50} loss={r.loss:.3f}"
        ),
        lambda n: n * 50,
        "wall",
        "step after `iter`",
        within=1.0,
    ),
]
