"""Lines of words, times and clocks."""

from __future__ import annotations

from tests.unit.readers.styles import Style, millis

LINES = [
    Style(
        "plain print",
        lambda r: f"step {r.n} loss {r.loss:.4f} time {r.seconds:.3f}s",
        lambda n: n,
        "seconds",
        "step after `step`, seconds after `time`",
    ),
    Style(
        "tabs and no units",
        lambda r: f"iter\t{r.n + 1}\tloss\t{r.loss:.3f}\tdt\t{r.seconds:.4f}",
        lambda n: n + 1,
        "seconds",
        "seconds after `dt`",
    ),
    Style(
        "milliseconds in the name",
        lambda r: f"it={r.n} | loss={r.loss:.3f} | iter_time_ms={r.ms:.1f} | lr=3e-4",
        lambda n: n,
        "seconds",
        "milliseconds after `iter_time_ms`",
    ),
    Style(
        "tutorial with epochs and batches",
        lambda r: (
            f"Epoch [{r.n // 6 + 1}/3], Step [{r.n % 6 * 100 + 100}/600], Loss: {r.loss:.4f}, "
            f"Time per step: {r.ms:.1f} ms"
        ),
        lambda n: (n // 6) * 600 + n % 6 * 100 + 100,
        "seconds",
        "counted on through the epochs after `Epoch`",
        every=100,
    ),
    Style(
        "bar of an epoch with dashes",
        lambda r: (
            f"Epoch {r.n // 5 + 1}/10 - {r.n % 5 * 9 + 9}/45 - loss {r.loss:.2f} "
            f"- {r.ms:.0f}ms/step"
        ),
        lambda n: (n // 5) * 45 + n % 5 * 9 + 9,
        "seconds",
        "milliseconds before `ms/step`",
        every=9,
    ),
    Style(
        "epochs as steps",
        lambda r: f"{r.seconds:.2f}s - epoch {r.n + 1} - loss: {r.loss:.4f} - acc: 0.{50 + r.n}",
        lambda n: n + 1,
        "seconds",
        "step after `epoch`, seconds before `s`",
    ),
    Style(
        "fractions in brackets after a train label",
        lambda r: (
            f"Train: {r.n // 7} [{r.n % 7 * 50:>4}/350 ({r.n % 7 * 14:>3}%)]  Loss: {r.loss:#.4g}  "
            f"Time: {r.seconds:.3f}s, 250.1/s  (0.530s,  244.0/s)  LR: 1.0e-3  Data: 0.010 (0.020)"
        ),
        lambda n: n % 7 * 50 + (n // 7) * 350,
        "seconds",
        "seconds after `Time`",
        every=50,
    ),
    Style(
        "logging module",
        lambda r: (
            f"{millis(r, '%Y-%m-%d %H:%M:%S', ',')} - trainer - INFO - "
            f"iteration {r.n * 10}: loss={r.loss:.3f}"
        ),
        lambda n: n * 10,
        "wall",
        "timestamps on the lines",
        within=0.0011,
    ),
    Style(
        "time of the day only, over midnight",
        lambda r: f"[{millis(r, '%H:%M:%S')}] batch {r.n + 5}/900 loss {r.loss:.3f}",
        lambda n: n + 5,
        "wall",
        "without a date",
        within=0.0011,
    ),
    Style(
        "month and day",
        lambda r: (
            f"{millis(r, '%m/%d %H:%M:%S')} trainer.py:88] update {r.n}, "
            f"objective loss {r.loss:.2f}"
        ),
        lambda n: n,
        "wall",
        "timestamps on the lines",
        within=0.0011,
    ),
    Style(
        "letters and digits before the time",
        lambda r: (
            f"I{millis(r, '%m%d %H:%M:%S')}456 4711 solver.cc:12] "
            f"Iteration {r.n * 20}, loss = {r.loss}"
        ),
        lambda n: n * 20,
        "wall",
        "step after `Iteration`",
        within=0.0011,
    ),
    Style(
        "seconds since 1970",
        lambda r: f"{r.when.timestamp():.3f} train_step={r.n} loss={r.loss:.3f} lr=0.001",
        lambda n: n,
        "wall",
        "step after `train_step`",
        within=0.0011,
    ),
    Style(
        "elapsed clock",
        lambda r: f"Step {r.n * 25} | elapsed {r.clock} | loss {r.loss:.3f} | eta 2:00:0{r.n % 10}",
        lambda n: n * 25,
        "wall",
        "time since the start after `elapsed`",
        within=1.0,
    ),
    Style(
        "elapsed seconds under a plain name",
        lambda r: f"[{r.n:05d}] step={r.n} time={r.elapsed:.2f} loss={r.loss:.3f}",
        lambda n: n,
        "wall",
        "time since the start after `time`",
        within=0.011,
    ),
    Style(
        "minutes and seconds since the start",
        lambda r: (
            f"{int(r.elapsed) // 60}m {int(r.elapsed) % 60}s (- 12m 3s) "
            f"({r.n * 500 + 500} {r.n}%) loss {r.loss:.4f}"
        ),
        lambda n: n * 500 + 500,
        "wall",
        "time since the start",
        within=1.0,
    ),
    Style(
        "step, average and data times",
        lambda r: (
            f"iter {r.n} avg_time 0.612 s batch_time {r.seconds:.3f} s "
            f"data_time 0.0{r.n % 4 + 1} s loss {r.loss:.3f} eta 3.2 s"
        ),
        lambda n: n,
        "seconds",
        "seconds after `batch_time`, waiting for data after `data_time`",
    ),
    Style(
        "total clock and step time",
        lambda r: (
            f"#{r.n} steps={r.n * 2} loss={r.loss:.3f} took={r.seconds:.2f}s total={r.elapsed:.1f}s"
        ),
        lambda n: n * 2,
        "seconds",
        "time since the start after `total`",
        within=0.006,
        every=2,
    ),
    Style(
        "rate only",
        lambda r: f"Global step: {r.n * 4:,} loss {r.loss:.3f} speed {1 / r.seconds:.4f} it/s",
        lambda n: n * 4,
        "seconds",
        "steps a second",
        within=0.001,
    ),
]
