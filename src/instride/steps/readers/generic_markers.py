"""Markers that trainers of all kinds print: saves, evaluations, compiling, launches, loading.

They are conservative. A line counts only if it says that something happens, with the words for it
side by side; settings, source code, tracebacks and plans ("every 500 steps") do not.
"""

from __future__ import annotations

import re

from instride.steps.model import EventKind

LONGEST_MARKER = 400
"""Sentences are short; beyond this a line is a dump of something."""

_THING = r"(?:checkpoints?|ckpts?|model|weights|snapshots?|state|states|parameters|optimizer)"
_FILE = r"\.(?:pth?|ckpt|bin|safetensors|h5|keras|npz|msgpack|pdparams|tar)\b"
_FIRST = r"(?<![\w./-])"
_SPLIT = r"(?:val|valid|validation|eval|evaluation|dev|test)"
_METRIC = (
    r"(?:loss|acc|accuracy|ppl|perplexity|bpb|bpc|nll|mse|mae|rmse|err|error|f1|auc|score|top1"
    r"|map|miou|iou|bleu|wer|cer|psnr|reward)"
)

CLEANUP = re.compile(
    _FIRST + r"(?:delet|remov|prun)(?:ing|ed)\b.{0,40}?\b(?:checkpoints?|ckpts?|snapshots?)\b"
)
LOAD = re.compile(
    _FIRST
    + r"(?:(?:resum|restor|load)(?:ing|ed)\b.{0,60}?(?:\b(?:checkpoint|ckpt|snapshot)\b|"
    + _FILE
    + r")|resum(?:ing|ed) (?:training|run|from)\b"
    r"|(?:no|(?:unable to|could not) (?:find|load)|failed to load)\b.{0,20}?\bcheckpoint\b)"
)
SAVE = re.compile(
    _FIRST
    + r"(?:(?:sav|writ|dump|stor)(?:ing|ed|ten)|wrote)\b(?:[^=]{0,40}?\b"
    + _THING
    + r"\b|.{0,120}?"
    + _FILE
    + r")|"
    + _FIRST
    + _THING
    + r"\b[^=]{0,80}?\b(?:saved|written|stored|dumped)\b|"
    + _FIRST
    + r"save (?:the |best |current ){0,2}"
    + _THING
    + r" (?:to|at|in|into|as) "
)
EVAL = re.compile(
    _FIRST
    + _SPLIT
    + r"(?:[_/.-]| {1,2})(?:set |avg |average |mean )?"
    + _METRIC
    + r"\b['\"]?\s{0,3}(?:[:=(]|is|of)?\s{0,3}[('\"]?(?:[-+]?\d|\.\d|nan|inf)"
    r"|" + _FIRST + r"(?:evaluating|validating|(?:running|start(?:ing)?|begin|start of|doing)"
    r" (?:the )?(?:evaluation|validation|eval|inference)|(?:evaluation|validation|eval)"
    r" (?:started|begins?|finished|done|complete|completed|took|results?))\b"
    r"|" + _FIRST + r"(?:test|val|validation|eval|dev) set\b.{0,10}:.{0,40}(?:loss|acc)"
    r"|^\W{0,8}(?:val|validation|eval|evaluation|test|dev)\W{0,2}[:\]|>].{0,80}?\b(?:"
    + _METRIC
    + r"|time)\b.{0,20}?\d"
)
COMPILE = re.compile(
    _FIRST
    + r"(?:(?:jit[- ])?compil(?:ing|ed) (?:the |your )?(?:model|graph|kernels?|network|train|step|"
    r"function|forward|code)|model (?:was )?compiled|compilation (?:took|finished|done|complete)"
    r"|recompiling (?:function|frame)\b|torch\._dynamo hit config\.(?:recompile|cache_size)_limit)"
)
START = re.compile(
    _FIRST + r"(?:(?:start|begin|launch)(?:ing|ed|s)? (?:the |model |a new )?training|training "
    r"(?:has |is )?(?:started|begins|starting))\b"
    r"(?!.{0,16}\b(?:epoch|step|iteration|batch|data|phase|loop|set|loss))"
    r"|\*{3} running training \*{3}"
)
END = re.compile(
    _FIRST + r"training (?:is |has |was )?(?:complete|completed|finished|done)\b(?!.{0,12}\bepoch)"
)
CJK_THING = "\u6a21\u578b|\u6743\u91cd|\u68c0\u67e5\u70b9|\u30e2\u30c7\u30eb|\u91cd\u307f"
CJK_THING += "|\u30c1\u30a7\u30c3\u30af\u30dd\u30a4\u30f3\u30c8|checkpoint|ckpt|model"
CJK_SAVE = re.compile(f"(?:{CJK_THING}).{{0,20}}\u4fdd\u5b58|\u4fdd\u5b58.{{0,20}}(?:{CJK_THING})")
CJK_EVAL = re.compile(
    "(?:\u9a8c\u8bc1|\u8bc4\u4f30|\u691c\u8a3c|\u8a55\u4fa1)"
    ".{0,6}?(?:\u635f\u5931|\u640d\u5931|loss|\u51c6\u786e\u7387|\u7cbe\u5ea6|\u4e2d|\u5f00\u59cb)"
)
KINDS = (
    (CLEANUP, EventKind.CLEANUP),
    (LOAD, EventKind.LOAD),
    (SAVE, EventKind.SAVE),
    (EVAL, EventKind.EVAL),
    (COMPILE, EventKind.COMPILE),
    (START, EventKind.START),
    (END, EventKind.END),
)

KEYED = re.compile(
    r"[\"'](?:event|type|kind|phase|action|stage|msg|message|split|mode)[\"']\s?:\s?"
    r"[\"'](?:(?P<save>(?:model_|checkpoint_|ckpt_)?sav(?:e|ed|ing)\b|checkpoint|save_|ckpt)"
    r"|(?P<eval>eval|val(?:id|idation)?\b|test\b)|(?P<load>resum|load_checkpoint|restore))"
)
"""Events in lines of JSON: `{"event": "save", "seconds": 12.5}`."""
KEYED_SECONDS = re.compile(
    r"[\"'](?:seconds|secs|(?:duration|took|elapsed|time)(?:_s|_sec|_seconds)?)[\"']\s?:\s?"
    r"(\d{1,9}(?:\.\d{1,12})?)"
)

NOT_SAID = re.compile(
    r"^\s*(?:[+>] ?)?(?:def |class |import |from \S+ import |if |elif |else:|for \S+ in |while "
    r"|return\b|try:|except\b|with |print|self\.|#|//|@|assert |raise |\"{3}|'{3})"
    r"|\w\([\"'f]|\w\(\)|[^:=<>!]=\s*\w+(?:\.\w+)*\(|\{[a-z_][\w.\[\]]*(?::[^}]{0,12})?\}"
    r"|\bfile \"|traceback|namespace\(|usage:|(?<!\S)--?[a-z]\w+[-_=]|\\n"
    r"|\b(?:every|each|will be|will save|would|whether|disabled|skip(?:ping|ped)|interval)\b"
    r"|\bload(?:ing|ed)\b.{0,40}\b(?:pretrained|tokenizer|dataset|vocab\w*|best)\b"
    r"|\bsav(?:ing|ed) (?:the )?(?:logs?|figures?|plots?|images?|samples?|videos?|results?|metrics"
    r"|predictions?|arguments|args|vocab\w*|tokenizer|outputs?)\b"
    r"|[:=]\s*(?:true|false|none|null|yes|no)\b\W{0,3}$"
)
BACKGROUND = re.compile(r"\b(?:async\w*|background|in parallel)\b")
FINISHED = re.compile(r"\b(?:finished|completed?|done|took|in \d)")
SECONDS = re.compile(
    r"(?:\b(?:in|took|takes|taking|within)[\s:=]{1,2}|\b(?:"
    + _SPLIT
    + r"|save|saving|checkpoint|elapsed|compile|load)[_ ](?:time|duration|took)[\s:=]{0,3}|\()"
    r"(\d{1,9}(?:\.\d{1,9})?)\s?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)\b"
)


def marker(line: str) -> EventKind | None:
    """What a line says that happens, if it says so."""
    text = line.lower()
    if not (
        "sav" in text
        or "val" in text
        or "checkpoint" in text
        or "test" in text
        or "training" in text
        or "compil" in text
        or "resum" in text
        or "ckpt" in text
        or "_dynamo hit" in text
    ):
        return None if text.isascii() else _in_other_scripts(text)
    if len(text) > LONGEST_MARKER:
        return None
    if '":' in text and (keyed := KEYED.search(text)):
        return EventKind(str(keyed.lastgroup))
    for shape, kind in KINDS:
        if shape.search(text):
            return None if _is_not_said(text, kind) else kind
    return None if text.isascii() else _in_other_scripts(text)


def _in_other_scripts(text: str) -> EventKind | None:
    if len(text) > LONGEST_MARKER:
        return None
    if CJK_SAVE.search(text):
        return EventKind.SAVE
    return EventKind.EVAL if CJK_EVAL.search(text) else None


def _is_not_said(text: str, kind: EventKind) -> bool:
    if NOT_SAID.search(text):
        return True
    # What ends in the background does not begin a pause, and its time is not training's.
    return kind is EventKind.SAVE and bool(BACKGROUND.search(text)) and bool(FINISHED.search(text))


def stated_s(line: str) -> float | None:
    """How long what a marker line tells took, where it says so (`in 12.3s`); never background."""
    text = line.lower()
    if BACKGROUND.search(text):
        return None
    if found := KEYED_SECONDS.search(text):
        return float(found[1])
    if (found := SECONDS.search(text)) is None:
        return None
    unit = found[2]
    scale = 1e-3 if unit.startswith(("ms", "milli")) else 60.0 if unit.startswith("m") else 1.0
    return float(found[1]) * scale
