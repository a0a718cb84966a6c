"""What trainers say between their steps, and what only looks as if they did."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.steps.model import EventKind
from instride.steps.readers.generic_markers import marker, stated_s

SAID = {
    EventKind.SAVE: [
        "Saving checkpoint to out/ckpt_100.pt",
        "saving model checkpoint at step 500",
        "Saved model to runs/exp1",
        "2025-03-01 10:00:00,123 - INFO - checkpoint saved",
        "[rank0]: Saving model weights ...",
        "Checkpoint written to /data/run7 in 12.3s",
        "New best! saving... best.pth",
        "Save weights to ./outputs",
        "Wrote checkpoint step_300.safetensors",
        "model parameters saved",
        "Starting async checkpoint save: saving state in the background",
        '{"event": "save", "step": 100, "seconds": 12.5}',
        '{"type": "checkpoint_saved", "path": "x"}',
        "\u4fdd\u5b58\u6a21\u578b\u5230 out",
        "\u30e2\u30c7\u30eb\u3092\u4fdd\u5b58\u3057\u307e\u3057\u305f",
    ],
    EventKind.EVAL: [
        "val_loss: 2.31",
        "step 100: train loss 2.5, val loss 2.6",
        "Validation Loss = 0.432, accuracy 0.9",
        "Evaluating: 45%|####5     | 9/20",
        "***** Running Evaluation *****",
        "Running validation",
        "Start validation, Total sample: 250",
        "Test set: Average loss: 0.0500, Accuracy: 9800/10000 (98%)",
        "eval loss nan",
        "{'eval_loss': 1.25, 'eval_runtime': 30.1}",
        "[VAL] loss 2.3 time 0.5",
        "Val: [ 10/50] Time 0.1 Loss 2.2",
        "validation took 12.3 seconds",
        '{"split": "val", "loss": 2.5}',
        "\u9a8c\u8bc1\u635f\u5931: 2.5",
    ],
    EventKind.COMPILE: [
        "compiling the model... (takes a ~minute)",
        "Model compiled in 31.2 s",
        "[2/3] [__recompiles] Recompiling function forward in train.py:12",
        "torch/_dynamo/convert_frame.py:906] [0/8] torch._dynamo hit config.recompile_limit (8)",
        "W0517 convert_frame.py:861] torch._dynamo hit config.cache_size_limit (8)",
    ],
    EventKind.LOAD: [
        "Resuming from checkpoint out/ckpt_100.pt",
        "Loaded checkpoint (step 500)",
        "Resumed training at step 500",
        "No checkpoint found in out",
        "Unable to load checkpoint.",
        "loading weights from last.ckpt",
    ],
    EventKind.START: [
        "Starting training",
        "Training started",
        "***** Running training *****",
        "INFO: start training with 8 GPUs",
    ],
    EventKind.CLEANUP: ["Deleting old checkpoint step_100", "Removed checkpoint out/ckpt_1.pt"],
    EventKind.END: ["Training finished in 3 h", "training complete!"],
}
NOT_SAID = [
    "eval_interval: 100",
    "save_steps=500",
    "checkpoint: True",
    "save_checkpoint: true",
    "Namespace(eval_interval=100, save_dir='out', resume=None, checkpoint='last.pt')",
    "  validation_split ......... 0.1",
    "val_loss_weight: 1.0",
    "Saving a checkpoint every 1000 steps",
    "Evaluating every 500 steps",
    "checkpoints will be saved to out/",
    "    def save_checkpoint(model, path):",
    "        print('Saving checkpoint to', path)",
    '    logger.info(f"Saved model to {path}")',
    "    # Evaluating the model on the validation set",
    "        torch.save(model.state_dict(), path)  # saved checkpoint",
    '  File "/app/save_checkpoint.py", line 31, in save_checkpoint',
    '  File "/app/train.py", line 3, in validation_step',
    "    if step % eval_interval == 0:",
    "usage: train.py [--save-every N] [--eval-every N]",
    "  --save-checkpoint PATH  where the checkpoint is saved",
    "Saved figure to loss.png",
    "saving logs of the model to out/log.txt",
    "Loading pretrained checkpoint bert.pt",
    "Validation set size: 1000",
    "test_io.py::test_reading PASSED",
    "Start training epoch 3",
    "training loss 2.5",
    "the value of the interval was saved",
    "Finished asynchronous save of checkpoint 100 in 36.45 seconds",
    "loss = validate(model)",
    "",
]


@pytest.mark.parametrize(("kind", "line"), [(k, line) for k, said in SAID.items() for line in said])
def test_what_a_line_says_is_recognised(kind: EventKind, line: str) -> None:
    assert marker(line) is kind


@pytest.mark.parametrize("line", NOT_SAID)
def test_settings_code_and_plans_are_no_markers(line: str) -> None:
    assert marker(line) is None


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("Checkpoint written to /data/run7 in 12.3s", 12.3),
        ("validation took 12 seconds", 12.0),
        ("Saved model to out (1.5 s)", 1.5),
        ("val loss 2.3, val time: 250 ms", 0.25),
        ("checkpoint saved in 2 min", 120.0),
        ('{"event": "save", "step": 100, "seconds": 12.5}', 12.5),
        ("saving checkpoint to out", None),
        ("saving at step 12 s3://bucket/ckpt", None),
        ("async save of the checkpoint in 30 s", None),
        ("saved checkpoint in the background in 30 s", None),
    ],
)
def test_a_stated_duration_is_read_unless_it_is_in_the_background(
    line: str, seconds: float | None
) -> None:
    assert stated_s(line) == (None if seconds is None else pytest.approx(seconds))


@given(st.text(max_size=600))
def test_no_text_is_too_strange(text: str) -> None:
    assert marker("saving " + text) in (None, *EventKind)
    seconds = stated_s("in " + text)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    "unit", ["saving ", "val loss ", "checkpoint =", "test:", "a" * 40 + "val "]
)
def test_long_garbage_is_passed_over_quickly(unit: str) -> None:
    line = unit * (60_000 // len(unit))
    started = perf_counter()
    assert marker(line) is None
    assert perf_counter() - started < 0.5
