"""Makes training logs of any size, in the dialects of several trainers.

Deterministic, and in constant memory. The training behind them is one and the same: steps with a
little jitter, evaluations, saves, slow steps after each save, warnings, and one restart half-way
from the last checkpoint, so that explain has everything to do that it does on a real log.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

START = datetime(2026, 3, 1, 8, tzinfo=UTC)
DOWN = timedelta(hours=1)
"""Between the end of the first process and the start of the second."""
STEP_S = 0.4
WARMUP_S = 20.0
EVAL_EVERY, EVAL_S = 250, 6.0
SAVE_EVERY, SAVE_S = 1000, 9.0
AFTERMATH_STEPS, AFTERMATH_FACTOR = 60, 2.2
WARN_EVERY = 37
CHUNK_BYTES = 1 << 20
TOTAL_STEPS = 40_000_000
"""What progress bars count to: more than a log of a few gigabytes holds."""
BLOCK = "\u2588"
WARNINGS = (
    "/opt/env/lib/python3.11/site-packages/data/loader.py:557: UserWarning: This loader will "
    "create 8 worker processes, which is more than the suggested maximum of 4.",
    "W0301 08:00:00.000000 140 logging.py:329] token stream is 3 batches behind, waiting",
    "  warnings.warn(",
    "INFO:data:shard 17 of 4096 opened in 0.21 seconds (113 MB)",
    "",
)


class Moment(NamedTuple):
    """One step of the training, and what came just before it."""

    step: int
    seconds: float
    """The step itself, without evaluation and save."""
    loss: float
    eval_s: float
    save_s: float
    starts_process: bool
    elapsed_s: float
    """Since the process began, at the end of the step."""
    end: datetime
    """The wall clock at the end of the step."""
    warning: str | None


def moments(restart_asked: Callable[[], bool]) -> Iterator[Moment]:
    """The training, without end; it restarts once, as soon as it is asked to."""
    dice = random.Random(7)
    jitter = [1 + 0.02 * dice.random() for _ in range(4099)]
    step = first = slow_until = 0
    elapsed_s, restarted, num = 0.0, False, 0
    began = START
    while True:
        if not restarted and restart_asked():
            began += timedelta(seconds=elapsed_s) + DOWN
            restarted, elapsed_s = True, 0.0
            step = first = step - step % SAVE_EVERY
        is_first = step == first
        eval_s = EVAL_S if step % EVAL_EVERY == 0 else 0.0
        save_s = SAVE_S if step % SAVE_EVERY == 0 and not is_first else 0.0
        if save_s:
            slow_until = step + AFTERMATH_STEPS
        seconds = STEP_S * jitter[num % 4099]
        if is_first:
            seconds += WARMUP_S
        elif slow_until - AFTERMATH_STEPS < step < slow_until:
            seconds *= AFTERMATH_FACTOR
        elapsed_s += eval_s + save_s + seconds
        loss = 2.0 + 8.0 / (1 + step / 500) + jitter[num % 4093]
        warning = WARNINGS[num // WARN_EVERY % 5] if num % WARN_EVERY == 0 else None
        end = began + timedelta(seconds=elapsed_s)
        yield Moment(step, seconds, loss, eval_s, save_s, is_first, elapsed_s, end, warning)
        step += 1
        num += 1


Dialect = Callable[[Iterator[Moment]], Iterator[str]]


def nanogpt(training: Iterator[Moment]) -> Iterator[str]:
    for at in training:
        if at.starts_process:
            yield "tokens per iteration will be: 491,520\n"
            yield "compiling the model... (takes a ~minute)\n"
        if at.eval_s:
            yield f"step {at.step}: train loss {at.loss:.4f}, val loss {at.loss + 0.1:.4f}\n"
        if at.save_s:
            yield "saving checkpoint to out-bench\n"
        if at.warning is not None:
            yield at.warning + "\n"
        printed_ms = (at.seconds + at.eval_s + at.save_s) * 1e3
        yield f"iter {at.step}: loss {at.loss:.4f}, time {printed_ms:.2f}ms, mfu 38.21%\n"


def torchtitan(training: Iterator[Moment]) -> Iterator[str]:
    """The clock behind `tps` runs on through a save and starts anew after a validation."""
    for at in training:
        begin = at.end - timedelta(seconds=at.seconds)
        before_save = begin - timedelta(seconds=at.save_s)
        if at.starts_process:
            yield _titan(before_save, f"Training starts at step {at.step + 1}")
        if at.eval_s:
            yield _titan(
                before_save,
                f"validate step: {at.step:2}  loss: {at.loss:8.5f}  memory: 61.02GiB(77.10%)"
                "  tps: 0",
            )
        if at.save_s:
            saving = "the checkpoint (or staging if async is enabled)"
            yield _titan(before_save, f"Saving {saving}.")
            yield _titan(begin, f"Finished saving {saving} in {at.save_s:.2f} seconds.")
        if at.warning is not None:
            yield f"[rank0]:{at.warning}\n"
        tps = 8192 / (at.seconds + at.save_s)
        yield _titan(
            at.end,
            f"step: {at.step + 1:2}  loss: {at.loss:8.5f}  grad_norm:  0.4127  "
            f"memory: 61.02GiB(77.10%)  tps: {tps:,.0f}  tflops: 310.25  mfu: 31.37%",
        )


def _titan(now: datetime, text: str) -> str:
    stamp = f"{now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03}"
    return f"[rank0]:[titan] {stamp} - root - INFO - {text}\n"


def hf_trainer(training: Iterator[Moment]) -> Iterator[str]:
    """A progress bar that overwrites itself; each tenth step a dictionary."""
    for at in training:
        if at.starts_process:
            yield "***** Running training *****\n  Num examples = 32,000,000\n"
        if at.eval_s:
            yield "\n***** Running Evaluation *****\n"
            yield "".join(f"\r{_bar(done, 20, done * EVAL_S / 20)}" for done in range(0, 21, 5))
            yield (
                f"\n{{'eval_loss': {at.loss + 0.1:.4f}, 'eval_runtime': {EVAL_S:.4f}, "
                f"'eval_samples_per_second': 26.6, 'epoch': {at.step / TOTAL_STEPS:.2f}}}\n"
            )
        if at.save_s:
            yield f"Saving model checkpoint to out/checkpoint-{at.step}\n"
        if at.warning is not None:
            yield f"\n{at.warning}\n"
        yield f"\r{_bar(at.step + 1, TOTAL_STEPS, at.elapsed_s)}"
        if at.step % 10 == 9:
            yield (
                f"\n{{'loss': {at.loss:.4f}, 'grad_norm': 0.81, 'learning_rate': 2e-05, "
                f"'epoch': {at.step / TOTAL_STEPS:.2f}}}\n"
            )


def _bar(done: int, total: int, elapsed_s: float) -> str:
    filled = 10 * done // total
    rate = elapsed_s / done if done else 1.0
    return (
        f"{100 * done // total:3}%|{BLOCK * filled}{' ' * (10 - filled)}| {done}/{total} "
        f"[{_clock(elapsed_s)}<{_clock((total - done) * rate)}, {rate:5.2f}s/it]"
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def megatron(training: Iterator[Moment]) -> Iterator[str]:
    """The newer kind, which stops its clock for evaluations and saves."""
    for at in training:
        if at.starts_process:
            begin = at.end - timedelta(seconds=at.seconds)
            yield f"[after megatron is initialized] datetime: {begin:%Y-%m-%d %H:%M:%S} \n"
            yield f"[before the start of training step] datetime: {begin:%Y-%m-%d %H:%M:%S} \n"
        if at.eval_s:
            yield (
                f" validation loss at iteration {at.step} | lm loss value: {at.loss:.6E} | "
                f"lm loss PPL: {at.loss * 9:.6E} | \n"
            )
        if at.save_s:
            yield f"saving checkpoint at iteration {at.step:7} to /ckpt in torch_dist format\n"
            yield f"  successfully saved checkpoint from iteration {at.step:7} to /ckpt\n"
        if at.warning is not None:
            yield at.warning + "\n"
        stamp = f"{at.end:%Y-%m-%d %H:%M:%S}.{at.end.microsecond // 1000:03}"
        yield (
            f" [{stamp}] iteration {at.step + 1:8}/{TOTAL_STEPS:8} | consumed samples: "
            f"{(at.step + 1) * 512:12} | elapsed time per iteration (ms): {at.seconds * 1e3:.1f} | "
            "throughput per GPU (TFLOP/s/GPU): 401.2 | learning rate: 2.812500E-06 | "
            f"global batch size:   512 | lm loss: {at.loss:.6E} | loss scale: 1.0 | "
            "grad norm: 0.427 | number of skipped iterations:   0 | "
            "number of nan iterations:   0 |\n"
        )


DIALECTS: dict[str, Dialect] = {
    "nanogpt": nanogpt,
    "torchtitan": torchtitan,
    "hf-trainer": hf_trainer,
    "megatron": megatron,
}


def write_log(path: Path, dialect: str, num_bytes: int) -> None:
    """Write a log of about `num_bytes`; the restart comes at half of it."""
    written = chunk_bytes = 0
    chunk: list[str] = []
    training = moments(lambda: written + chunk_bytes > num_bytes // 2)
    with path.open("wb") as log:
        for text in DIALECTS[dialect](training):
            chunk.append(text)
            chunk_bytes += len(text)
            if chunk_bytes >= min(CHUNK_BYTES, num_bytes - written):
                written += log.write("".join(chunk).encode())
                chunk.clear()
                chunk_bytes = 0
            if written >= num_bytes:
                return
