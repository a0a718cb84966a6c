"""The words by which unknown trainers name steps, epochs and times, in several languages."""

from __future__ import annotations

import re


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LETTERS = re.compile(r"[^\W\d_]+")
CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

STEP = names(
    "step steps iter iters iteration iterations it its itr batch batches minibatch update updates "
    "gstep schritt paso pas etape iteracion"
) | {
    "\u6b65",
    "\u6b65\u6570",
    "\u6b65\u9aa4",
    "\u8fed\u4ee3",
    "\u6279\u6b21",
    "\u30b9\u30c6\u30c3\u30d7",
    "\u30a4\u30c6\u30ec\u30fc\u30b7\u30e7\u30f3",
    "\u53cd\u5fa9",
    "\uc2a4\ud15d",
    "\u0448\u0430\u0433",
    "\u0438\u0442\u0435\u0440\u0430\u0446\u0438\u044f",
    "\u00e9tape",
    "it\u00e9ration",
    "iteraci\u00f3n",
}
"""Chinese, Japanese, Korean and Russian words; the Latin ones are spelt out."""
EPOCH = names("epoch epochs ep epoca epoche") | {
    "\u8f6e",
    "\u8f6e\u6b21",
    "\u30a8\u30dd\u30c3\u30af",
    "\uc5d0\ud3ed",
    "\u044d\u043f\u043e\u0445\u0430",
    "\u00e9poque",
    "\u00e9poca",
}
TIME = names(
    "time dt elapsed took takes duration latency wall walltime runtime sec secs second seconds ms "
    "msec msecs millis milliseconds timer timing timings spent minutes mins "
    "zeit dauer temps duree tiempo"
) | {
    "\u8017\u65f6",
    "\u7528\u65f6",
    "\u65f6\u95f4",
    "\u6642\u9593",
    "\u7d4c\u904e",
    "\uc2dc\uac04",
    "\u0432\u0440\u0435\u043c\u044f",
    "dur\u00e9e",
}
REMAINING = names(
    "eta remaining remain left rem remains until timeout limit estimated estimate est expected"
) | {
    "\u5269\u4f59",
    "\u6b8b\u308a",
}
AVERAGE = names("avg average mean ema smoothed smooth median med running") | {"\u5e73\u5747"}
TOTAL = names("elapsed total wall walltime runtime since cumulative cum so") | {"\u7d4c\u904e"}
DATA = names("data load loading loader dataloader dataloading fetch reader io")
PHASE = names(
    "fwd bwd forward backward opt optim optimizer comm allreduce eval val valid validation test "
    "save saving ckpt checkpoint sync transfer infer inference gen rollout update compile "
    "min max std"
)
AMOUNTS = names(
    "samples sample tokens token tok toks images image img imgs examples words chars frames flops "
    "tflops gflops mflops mb gb kb mib gib bytes fps tps wps seqs sequences"
)
SAVING = names("checkpoint checkpoints checkpointer ckpt save saved saving snapshot")
METRIC = names(
    "loss acc accuracy lr rate norm ppl perplexity reward score mfu error err mse mae auc iou "
    "bleu wer psnr grad weight temperature scale top kl entropy bpb perte verlust"
) | {
    "\u635f\u5931",
    "\u640d\u5931",
    "\uc190\uc2e4",
    "\u5b66\u4e60\u7387",
    "\u5b66\u7fd2\u7387",
    "\u51c6\u786e\u7387",
    "\u7cbe\u5ea6",
    "\u043f\u043e\u0442\u0435\u0440\u0438",
    "p\u00e9rdida",
}
COUNTING = names("done completed finished no nr num number count idx index id")
"""Words that may stand between `step` and its number."""
FILE_ENDS = names("py cc cpp cu c h hpp go rs java jl")
"""A number after `train.py:` is that of a line of code."""
EVALUATION = names(
    "val valid validate validating validation eval evaluate evaluating evaluation test testing"
)
NO_NUMBER = names("nan inf none null")
SAYS_UNIT = names("s sec secs second seconds ms msec msecs millis milliseconds minutes")
STAMP = names("time timestamp ts datetime date created at asctime")

TIME_UNITS = {
    "us": 1e-6,
    "ms": 1e-3,
    "msec": 1e-3,
    "msecs": 1e-3,
    "milliseconds": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "m": 60.0,
    "min": 60.0,
    "mins": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hours": 3600.0,
    "\u79d2": 1.0,
    "\ucd08": 1.0,
    "\u6beb\u79d2": 1e-3,
    "\u30df\u30ea\u79d2": 1e-3,
    "\u5206": 60.0,
}
PER_STEP = re.compile(r"(us|ms|msec|s|sec|secs|seconds)/(?:it|iter|iteration|step|batch|update)s?")
RATE = re.compile(r"(?:it|its|iter|iters|iterations|step|steps|batch|batches|updates)/s(?:ec)?")
LABEL_UNITS = {"us": 1e-6, "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3, "millis": 1e-3}
LABEL_UNITS |= {"milliseconds": 1e-3, "minutes": 60.0, "mins": 60.0}
EVAL_WORD = re.compile(rf"(?<![^\W_])(?i:{'|'.join(sorted(EVALUATION))})(?![^\W_])")

EVALUATES = re.compile(
    r"(?<![^\W_])(?i:(?:evaluation|validation|eval|testing) (?:start(?:s|ed)?|begins|finished|done|"
    r"completed?|took)|evaluating|validating)(?![^\W_])"
)


def subwords(token: str) -> tuple[str, ...]:
    """The words in a name: `trainIterTime`, `iter_time_ms` and `train/iter time` alike."""
    found: list[str] = []
    for word in LETTERS.findall(token):
        found += CAMEL.findall(word) if word.isascii() else [word]
    return tuple(word.lower() for word in found)


def is_any(word: str, names: frozenset[str]) -> bool:
    """Whether a word is one of the names; scripts without spaces only need to end with it."""
    if word in names:
        return True
    return not word.isascii() and any(word.endswith(n) for n in names if not n.isascii())
