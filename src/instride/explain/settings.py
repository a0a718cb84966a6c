"""Intervals that a log prints at its head: the settings that a period is compared with.

Trainers print their configuration in many ways: `eval_interval = 250`, `"save_steps": 500,`,
`--save-interval 1000`, `eval_interval ........ 100`, `| val_loss_every | 250 |`. What they have in
common is the name of the setting and a number after it.
"""

from __future__ import annotations

import re
from itertools import islice

from instride.steps.source import Source

MOST_LINES = 4000
"""Lines of the head; a configuration is printed before the training, or never."""
LONGEST_LINE = 100_000
LARGEST = 10_000_000

NAME = re.compile(
    r"(?<![\w.])(?:--)?(?P<name>"
    r"(?:eval(?:uation)?|val(?:idation|id|_loss|_check)?|test|sample|generate|save|checkpoint|ckpt"
    r"|snapshot|log(?:ging)?|display|print|gc|empty_cache|profile)"
    r"[-_.]?(?:every(?:_n_steps|_n_train_steps)?|interval|steps|freq(?:uency)?|period|factor)"
    r"|save_every_n_steps|run_val_every_n_steps|every_n_train_steps|gradient_accumulation_steps"
    r"|accumulate_grad_batches|num_workers|dataloader_num_workers|steps_per_epoch)"
    r"[\"']?(?:\s{0,60}(?:[=:|]|\.{2,60})\s{0,60}|\s{1,60})[\"']?(?P<value>\d{1,9})(?![\w.])",
    re.IGNORECASE,
)


def read_settings(source: Source) -> dict[str, int]:
    """Settings at the head of a log, by the names that it uses; the last value of each."""
    found: dict[str, int] = {}
    for _, line in islice(source.lines(), MOST_LINES):
        for match in NAME.finditer(line[:LONGEST_LINE]):
            value = int(match["value"])
            if 1 < value < LARGEST:
                found[match["name"]] = value
    return found
