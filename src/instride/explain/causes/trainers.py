"""What to change in which trainer: the line or the option, by dialect and by remedy.

`{n}` stands for the value, which counts what the log counts. Options are named as the trainers name
them today; versions differ. Intervals that a trainer counts in epochs are not here.
"""

from __future__ import annotations

from collections.abc import Mapping

from instride.steps.model import Run

HF = {
    # Without its strategy, a number of steps does nothing to a run that evaluates by epochs.
    "evaluate-less": 'eval_strategy="steps", eval_steps={n}',
    "save-less": 'save_strategy="steps", save_steps={n}',
    "save-more": 'save_strategy="steps", save_steps={n}',
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
    "modded-nanogpt": {"evaluate-less": "val_loss_every: int = {n}"},
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
        **_intervals("--validator.freq=", "--checkpoint.interval="),
        "save-async": "--checkpoint.async_mode=async_with_pinned_mem",
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
    "verl": {
        **_intervals("trainer.test_freq=", "trainer.save_freq="),
        "more-workers": "data.dataloader_num_workers={n}",
    },
    "torchtune": {
        **_intervals("run_val_every_n_steps=", "save_every_n_steps="),
        "save-async": "enable_async_checkpointing=True",
    },
    "litgpt": _intervals("--eval.interval ", "--train.save_interval "),
    "lightning": {
        # An interval longer than an epoch is refused unless epochs are left out of the count.
        "evaluate-less": "Trainer(val_check_interval={n}, check_val_every_n_epoch=None)",
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
    "openpi": {
        "save-less": "--save-interval={n}",
        "save-more": "--save-interval={n}",
        "more-workers": "--num-workers={n}",
    },
    "lerobot": {
        **_intervals("--env_eval_freq=", "--save_freq="),
        "more-workers": "--num_workers={n}",
    },
    "open-clip": {"more-workers": "--workers {n}"},
    "fairseq": {
        **_intervals("--validate-interval-updates ", "--save-interval-updates "),
        # It also validates whenever it saves in the middle of an epoch.
        "evaluate-less": "--validate-interval-updates {n} --save-interval-updates {n}",
        "save-async": "--write-checkpoints-asynchronously",
        "more-workers": "--num-workers {n}",
    },
    "opennmt-py": {
        **_intervals("valid_steps: ", "save_checkpoint_steps: "),
        "more-workers": "num_workers: {n}",
    },
    "detectron2": {
        **_intervals("TEST.EVAL_PERIOD ", "SOLVER.CHECKPOINT_PERIOD "),
        "more-workers": "DATALOADER.NUM_WORKERS {n}",
    },
    "mmengine": {
        "keep-workers": "--cfg-options train_dataloader.persistent_workers=True",
        "more-workers": "--cfg-options train_dataloader.num_workers={n}",
    },
    "coqui": {
        **_intervals("run_eval_steps=", "save_step="),
        "more-workers": "num_loader_workers={n}",
    },
    "timm": {"more-workers": "--workers {n}"},
    "yolox": {"more-workers": "data_num_workers {n}"},
    "ultralytics": {"more-workers": "workers={n}"},
    "caffe": _intervals("test_interval: ", "snapshot: "),
    "journal": {
        "save-less": "if saver.due(step, every={n}):",
        "save-more": "if saver.due(step, every={n}):",
        "skip-when-busy": 'Saver(when_busy="skip")',
        "spend-less": "Saver(budget=0.01)",
        "pack-later": "Saver(pack=False)",
    },
}

ANY_TRAINER: Mapping[str, str] = {
    "cache-compiled": "export TORCHINDUCTOR_CACHE_DIR=$HOME/.cache/torchinductor",
    "keep-workers": "DataLoader(..., persistent_workers=True)",
    "log-recompiles": "export TORCH_LOGS=recompiles",
    "spare-memory": "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    "yield-to-training": "chrt --idle -p 0 PID; echo 19 > /proc/PID/autogroup",
    "watch-machine": "vmstat 5",
    "watch-memory": "vmstat 5",
    "watch-disk": "iostat -x 5",
    "watch-clocks": "nvidia-smi -l 5 -q -d CLOCK,PERFORMANCE,TEMPERATURE",
    "limit-restarts": "torchrun --max-restarts=3 ...",
}
"""Commands and lines that do not depend on the trainer.

To yield takes two: a program in another session is its own autogroup, where the idle class alone
does nothing.
"""
ALREADY: Mapping[str, frozenset[str]] = {
    "journal": frozenset({"save-async"}),
    "lerobot": frozenset({"keep-workers"}),
    "nanochat": frozenset({"collect-on-schedule"}),
    "openpi": frozenset({"save-async", "keep-workers"}),
    "timm": frozenset({"keep-workers"}),
    "torchtitan": frozenset({"collect-on-schedule"}),
}
"""What a trainer does by itself."""
INSTEAD: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "journal": {
        "save": ("save-less", "skip-when-busy"),
        "closing-save": ("save-near",),
        "aftermath": ("save-less", "spend-less", "pack-later"),
    },
    "openpi": {"save": ("save-less", "save-near"), "closing-save": ("save-near",)},
}
"""Remedies in place of those of a cause, by the finding, where what it is about is known: a journal
is written by the `Saver`, whose saves are in the background, and whose work on them yields. What
the last one waits for is mostly the one before."""
WITHOUT_TORCH = frozenset({"llmc", "maxtext", "openpi", "caffe", "mxnet", "paddle"})
"""Dialects of trainers for which variables and loaders of torch do nothing."""


def trainer_of(run: Run) -> str:
    """The dialect whose lines fit a run; none if the log counts parts of what settings count."""
    counts_parts = any(note.id == "micro-batches" for note in run.notes)
    return "" if counts_parts else run.dialect.name


def line_for(dialect: str, remedy: str, value: int | None) -> str | None:
    """The line or command of a remedy, if one is known and its value is."""
    line = TRAINERS.get(dialect, {}).get(remedy) or ANY_TRAINER.get(remedy)
    is_for_torch = line is not None and ("TORCH" in line or "DataLoader(" in line)
    if line is None or (is_for_torch and dialect in WITHOUT_TORCH):
        return None
    if "{n}" not in line:
        return line
    return None if value is None else line.replace("{n}", str(value))


def shared_setting(dialect: str) -> str | None:
    """The setting that a trainer both evaluates and saves by, if it has only one."""
    own = TRAINERS.get(dialect, {})
    evaluate, save = own.get("evaluate-less"), own.get("save-less")
    if evaluate is None or save is None or save not in evaluate:
        return None
    return save.replace("{n}", "").strip(" =:")


def instead(run: Run, finding: str) -> tuple[str, ...]:
    """What helps against a finding in place of the remedies of its cause; empty where these do."""
    return INSTEAD.get(run.dialect.name, {}).get(finding, ())


def cheaper_save(dialect: str, *, is_after: bool) -> str | None:
    """What makes a save cheaper where it cannot be rarer, or the steps after it; None: unknown."""
    if not does_already(dialect, "save-async"):
        return "save-async"
    known = INSTEAD.get(dialect, {}).get("aftermath" if is_after else "save", ())
    return next((remedy for remedy in known if remedy != "save-less"), None)


def does_already(dialect: str, remedy: str) -> bool:
    return remedy in ALREADY.get(dialect, frozenset())
