"""Names that mean the same, and names that only look alike."""

from __future__ import annotations

import pytest

from instride.doctor.rules.near_names import is_misspelt, means_the_same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use_torch_compile", "compile"),
        ("save_every", "save_interval"),
        ("num_epochs", "epochs"),
        ("lr", "learning_rate"),
        ("learningRate", "learning_rate"),
        ("warmup-iters", "warmup_steps"),
        ("val_freq", "eval_interval"),
        ("ckpt_dir", "checkpoint_dir"),
    ],
)
def test_names_made_of_the_same_words_mean_the_same(one: str, other: str) -> None:
    assert means_the_same(one, other)
    assert means_the_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("compile", "compile"),
        ("max_steps", "min_steps"),
        ("train_batch_size", "batch_size"),
        ("save_dir", "save_interval"),
        ("beta1", "beta2"),
        ("use", "do"),
    ],
)
def test_other_words_mean_something_else(one: str, other: str) -> None:
    assert not means_the_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("warmup_setps", "warmup_steps"), ("gradclip", "grad_clip"), ("dropuot", "dropout")],
)
def test_one_letter_makes_a_misspelling(one: str, other: str) -> None:
    expected = "_" not in one + other or one.count("_") == other.count("_")
    assert is_misspelt(one, other) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [("beta_1", "beta_2"), ("lr", "lt"), ("n_layer", "n_layer"), ("warmup", "dropout")],
)
def test_numbers_short_names_and_others_are_no_misspelling(one: str, other: str) -> None:
    assert not is_misspelt(one, other)
