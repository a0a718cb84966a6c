"""What to change in which trainer: the line or the option, by dialect and by remedy.

`{n}` stands for the value. Options are named as the trainers name them today; versions differ.
"""

from __future__ import annotations

from collections.abc import Mapping

HF = {
    "evaluate-less": "eval_steps={n}",
    "save-less": "save_steps={n}",
    "save-more": "save_steps={n}",
    "keep-workers": "dataloader_persistent_workers=True",
    "more-workers": "dataloader_num_workers={n}",
    "prefetch": "dataloader_prefetch_factor=4",
    "fix-shapes": "dataloader_drop_last=True",
}
MEGATRON = {
    "evaluate-less": "--eval-interval {n}",
    "save-less": "--save-interval {n}",
    "save-more": "--save-interval {n}",
    "more-workers": "--num-workers {n}",
}


def _intervals(evaluate: str, save: str) -> dict[str, str]:
    """Lines of a trainer that has an interval for evaluating and one for saving."""
    return {
        "evaluate-less": evaluate + "{n}",
        "save-less": save + "{n}",
        "save-more": save + "{n}",
    }


TRAINERS: Mapping[str, Mapping[str, str]] = {
    "nanogpt": {
        # It saves when it evaluates.
        **_intervals("eval_interval = ", "eval_interval = "),
        "save-if-better": "always_save_checkpoint = False",
    },
    "build-nanogpt": {"evaluate-less": "if step % {n} == 0 or last_step:"},
    "llmc": _intervals("-v ", "-n "),
    "llmc-pytorch": {"evaluate-less": "--val_loss_every {n}"},
    "nanochat": _intervals("--eval-every=", "--save-every="),
    "modded-nanogpt": {"evaluate-less": "val_loss_every = {n}"},
    "hf-trainer": HF,
    "hf-trainer-state": HF,
    "llama-factory": {
        **_intervals("eval_steps: ", "save_steps: "),
        "keep-workers": "dataloader_persistent_workers: true",
        "more-workers": "dataloader_num_workers: {n}",
        "prefetch": "dataloader_prefetch_factor: 4",
        "fix-shapes": "dataloader_drop_last: true",
    },
    "torchtitan": {
        **_intervals("--validation.freq=", "--checkpoint.interval="),
        "save-async": "--checkpoint.async_mode=async_with_pinned_mem",
        "collect-on-schedule": "--training.gc_freq=50",
    },
    "megatron": {
        **MEGATRON,
        "save-async": "--async-save --use-persistent-ckpt-worker",
        "collect-on-schedule": "--manual-gc --manual-gc-interval 100",
        "save-on-signal": "--exit-signal-handler",
    },
    "gpt-neox": {
        **_intervals('"eval_interval": ', '"checkpoint_factor": '),
        "more-workers": '"num_workers": {n}',
    },
    "deepspeed": {"save-near": '"checkpoint": {"use_node_local_storage": true}'},
    "verl": _intervals("trainer.test_freq=", "trainer.save_freq="),
    "torchtune": {
        **_intervals("run_val_every_n_steps=", "save_every_n_steps="),
        "save-async": "enable_async_checkpointing=True",
    },
    "litgpt": _intervals("--eval.interval ", "--train.save_interval "),
    "lightning": {
        "evaluate-less": "Trainer(val_check_interval={n})",
        "save-less": "ModelCheckpoint(every_n_train_steps={n})",
        "save-more": "ModelCheckpoint(every_n_train_steps={n})",
        "save-async": "Trainer(plugins=[AsyncCheckpointIO()])",
        "keep-workers": "DataLoader(..., persistent_workers=True)",
        "more-workers": "DataLoader(..., num_workers={n})",
    },
    "composer": {
        "evaluate-less": 'eval_interval="{n}ba"',
        "save-less": 'save_interval="{n}ba"',
        "save-more": 'save_interval="{n}ba"',
    },
    "maxtext": {
        **_intervals("eval_interval=", "checkpoint_period="),
        "save-async": "async_checkpointing=True",
    },
    "openpi": {"save-less": "--save-interval={n}", "save-more": "--save-interval={n}"},
    "open-clip": {"more-workers": "--workers {n}"},
    "fairseq": {
        **_intervals("--validate-interval-updates ", "--save-interval-updates "),
        "save-async": "--write-checkpoints-asynchronously",
        "more-workers": "--num-workers {n}",
    },
    "opennmt-py": _intervals("valid_steps: ", "save_checkpoint_steps: "),
    "detectron2": {
        **_intervals("TEST.EVAL_PERIOD ", "SOLVER.CHECKPOINT_PERIOD "),
        "more-workers": "DATALOADER.NUM_WORKERS {n}",
    },
    "mmengine": {
        "keep-workers": "train_dataloader.persistent_workers=True",
        "more-workers": "train_dataloader.num_workers={n}",
    },
    "coqui": {
        **_intervals("run_eval_steps=", "save_step="),
        "more-workers": "num_loader_workers={n}",
    },
    "timm": {"more-workers": "--workers {n}"},
    "yolox": {"more-workers": "data_num_workers {n}"},
    "ultralytics": {"more-workers": "workers={n}"},
    "caffe": _intervals("test_interval: ", "snapshot: "),
}

ANY_TRAINER: Mapping[str, str] = {
    "cache-compiled": "export TORCHINDUCTOR_CACHE_DIR=$HOME/.cache/torchinductor",
    "log-recompiles": "export TORCH_LOGS=recompiles",
    "spare-memory": "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    "yield-to-training": "chrt --idle -p 0 PID; echo 19 > /proc/PID/autogroup",
    "watch-machine": "vmstat 5",
    "watch-memory": "vmstat 5",
    "watch-disk": "iostat -x 5",
    "watch-clocks": "nvidia-smi -l 5 -q -d CLOCK,PERFORMANCE,TEMPERATURE",
    "limit-restarts": "torchrun --max-restarts=3 ...",
}
"""Commands that do not depend on the trainer.

To yield takes two: a program in another session is its own autogroup, where the idle class alone
does nothing.
"""
ALREADY: Mapping[str, frozenset[str]] = {"openpi": frozenset({"save-async"})}
"""What a trainer does by itself."""
WITHOUT_TORCH = frozenset({"llmc", "maxtext", "openpi", "caffe", "mxnet", "paddle"})
"""Dialects of trainers for which the variables of torch do nothing."""


def line_for(dialect: str, remedy: str, value: int | None) -> str | None:
    """The line or command of a remedy, if one is known and its value is."""
    line = TRAINERS.get(dialect, {}).get(remedy) or ANY_TRAINER.get(remedy)
    if line is None or ("TORCH" in line and dialect in WITHOUT_TORCH):
        return None
    if "{n}" not in line:
        return line
    return None if value is None else line.replace("{n}", str(value))


def does_already(dialect: str, remedy: str) -> bool:
    return remedy in ALREADY.get(dialect, frozenset())
