"""Names that mean the same: `use_torch_compile` and `compile`, `save_every` and `save_interval`."""

from __future__ import annotations

import re

FILLERS = {
    "use", "using", "enable", "enabled", "do", "is", "with", "should", "torch", "pytorch", "num",
    "n", "number", "of", "the", "a",
}  # fmt: skip
"""Words that a name can do without."""
SAME = {
    "lr": ("learning", "rate"),
    "bs": ("batch", "size"),
    "bsz": ("batch", "size"),
    "batchsize": ("batch", "size"),
    "wd": ("weight", "decay"),
    "ckpt": ("checkpoint",),
    "iter": ("step",),
    "iteration": ("step",),
    "val": ("eval",),
    "valid": ("eval",),
    "validation": ("eval",),
    "evaluation": ("eval",),
    "freq": ("interval",),
    "frequency": ("interval",),
    "every": ("interval",),
    "period": ("interval",),
    "gradient": ("grad",),
    "directory": ("dir",),
    "folder": ("dir",),
    "seqlen": ("seq", "len"),
    "sequence": ("seq",),
    "length": ("len",),
    "maximum": ("max",),
    "minimum": ("min",),
    "amp": ("mixed", "precision"),
}
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
WORD = re.compile(r"[A-Za-z]+|\d+")
SHORTEST_TYPO = 6
"""Letters; in shorter names a changed letter is another name."""


def normal(name: str) -> str:
    """A key as code would write it."""
    return name.replace("-", "_")


def meaning(name: str) -> frozenset[str]:
    """The words of a name that carry its meaning, in one spelling each."""
    words: list[str] = []
    for word in WORD.findall(CAMEL.sub("_", normal(name)).lower()):
        single = word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word
        words.extend(SAME.get(word) or SAME.get(single) or (single,))
    return frozenset(words) - FILLERS


def spellings(name: str) -> list[str]:
    """The words that a name of the same meaning has at least one of."""
    words = meaning(name)
    others = {short for short, parts in SAME.items() if words & set(parts)}
    if len(words) == 1:
        others.add(name[:3])  # where a single word is misspelt, its beginning is hardly
    return sorted({*words, *others, name})


def means_the_same(one: str, other: str) -> bool:
    """Whether two different names are made of the same words."""
    words = meaning(one)
    return one != other and bool(words) and words == meaning(other)


def is_misspelt(one: str, other: str) -> bool:
    """Whether two names differ by one letter left out, added, changed or swapped."""
    if one == other or min(len(one), len(other)) < SHORTEST_TYPO or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    if not (one + other).isalpha() or start == 0:
        return False
    return max(len(one), len(other)) == 1 or (len(one) == 2 and one == other[::-1])
