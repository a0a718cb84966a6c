"""One update of a tqdm bar."""

from __future__ import annotations

import pytest

from instride.steps.readers.bars import Clocks, Role, Update, parse


@pytest.mark.parametrize(
    ("line", "update"),
    [
        (
            "  7%|7         | 1700/24758 [1:06:45<15:57:07,  2.49s/it]",
            Update("", 1700, 24758, 4005, "it"),
        ),
        (
            "1|12|Loss: 1.0712:   2%|2         | 12/512 [00:28<4:02:59, 28.53s/it, lr=1e-05]",
            Update("1|12|Loss: 1.0712", 12, 512, 28, "it"),
        ),
        ("train: 0%|          | 0/51760 [00:00<?, ?it/s]", Update("train", 0, 51760, 0, "it")),
        ("123it [00:10, 12.30it/s]", Update("", 123, None, 10, "it")),
        ("reading: 7123it [02:00, 59.99it/s]", Update("reading", 7123, None, 120, "it")),
        ("train: 12.3kit [51:12:10, 1.20kit/s]", Update("train", 12300, None, 184330, "it")),
        ("3.01k/30.0k [06:22<1:00:00,  2.2it/s]", Update("", 3010, 30000, 382, "it")),
        ("Map: 99 examples [00:01, 53.5 examples/s]", Update("Map", 99, None, 1, "examples")),
        ("  5%|5  | 2.10M/45.6M [00:01<00:09, 4.10MB/s]", Update("", 2100000, 45600000, 1, "B")),
        (
            "a: 50%|#####     | 5/10 [1 day, 3:00:01<1 day, 3:00:01, 19440.20s/it]",
            Update("a", 5, 10, 97201, "it"),
        ),
        ("a: 50% 5/10 [2 days, 0:00:05<00:05,  1.0s/step]", Update("a", 5, 10, 172805, "step")),
        ("run: |          | 12/? [00:10<?,  1.2it/s]", Update("run", 12, None, 10, "it")),
        ("50%|#####|5/10 [00:05<00:05]", Update("", 5, 10, 5, "it")),
        ("[rank0]: 50%|##   | 5/10 [00:05<00:05, 1.0s/it]", Update("[rank0]", 5, 10, 5, "it")),
        ("50%|\u2588\u258c   | 5/10 [00:05<00:05, 1.0s/it]", Update("", 5, 10, 5, "it")),
    ],
)
def test_a_bar_is_read(line: str, update: Update) -> None:
    assert parse(line) == update


@pytest.mark.parametrize(
    "line",
    [
        "",
        "  7%|7         | 1700/24758 [1:06",
        "  7%|7         | 1700/24758 [",
        "7%|7         | 25000/24758 [1:06:45<15:57:07,  2.49s/it]",
        f"7%|7         | {'9' * 400}/24758 [1:06:45<15:57:07,  2.49s/it]",
        f"{'9' * 400}it [00:10, 12.30it/s]",
        f"{'x' * 60_000} 5/10 [00:10<00:10, 1.00it/s]",
        "nanit [00:10, 12.30it/s]",
        "1e999/2 [00:10<00:10, 12.30it/s]",
        "\u00b2/3 [00:10<00:10, 12.30it/s]",
        "INFO 12/31 [10:22:33, worker 3] started",
        "src/train.py [12:30, main] 3 files/second",
        "Epoch: [0/100]  [  70/1562]  eta: 0:11:22  loss: 6.9 time: 0.47",
        "Progress on: 731it/30.0kit rate:2.2it/s remaining:3:42:03 elapsed:06:22",
    ],
)
def test_what_is_no_whole_bar_is_not_read(line: str) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    ("name", "unit", "role"),
    [
        ("train", "it", Role.TRAINING),
        ("Epoch 3/10", "batch", Role.TRAINING),
        ("1|12|Loss: 1.07", "it", Role.TRAINING),
        ("Epoch 1 train_loss 1.2 val_loss 3.1", "it", Role.TRAINING),
        ("", "it", Role.OTHER),
        ("worker", "it", Role.OTHER),
        ("Evaluating", "it", Role.EVALUATION),
        ("Validation DataLoader 0", "it", Role.EVALUATION),
        ("Epoch 3 [val]", "it", Role.EVALUATION),
        ("Saving checkpoint shards", "it", Role.SAVING),
        ("Loading checkpoint shards", "it", Role.PREPARATION),
        ("Packing dataset", "it", Role.PREPARATION),
        ("Tokenizing train dataset", "it", Role.PREPARATION),
        ("Map (num_proc=8)", "it", Role.PREPARATION),
        ("Skipping the first batches", "it", Role.PREPARATION),
        ("train", "examples", Role.PREPARATION),
        ("model.safetensors", "B", Role.PREPARATION),
        ("train.tar", "MiB", Role.PREPARATION),
        ("train", "file", Role.PREPARATION),
    ],
)
def test_the_role_of_a_bar_follows_from_its_name_and_unit(name: str, unit: str, role: Role) -> None:
    assert Update(name, 1, 10, 1, unit).role is role


def test_a_clock_may_have_digits_of_any_script() -> None:
    clocks = Clocks()
    assert (clocks["00:42"], clocks["00:\u0664\u0662"], clocks["1:00:07"]) == (42, 42, 3607)
