"""Which files of a repository configure its training: those whose keys its own code reads."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from instride.doctor.repository import ConfigFile, Entry, Repository
from instride.doctor.rules.config_objects import LOADS
from instride.doctor.rules.config_reads import reads
from instride.doctor.rules.near_names import normal
from instride.doctor.rules.remembering import once

OF_TOOLS = re.compile(
    r"(^|/)\.github/|(^|/)("
    r"[\w.-]*lock|pyproject|cargo|poetry|uv|ruff|rustfmt|book|netlify|pixi|environment[\w.-]*|conda[\w.-]*|meta|package\w*"
    r"|mkdocs|_config|codecov|dependabot|action|dvc|params\.lock|labeler|renovate|tsconfig\w*|vercel"
    r"|accelerate\w*|default_config|fsdp\w*|deepspeed\w*|ds_\w*|zero\d?\w*|generation_config"
    r"|tokenizer\w*|special_tokens\w*|preprocessor_config|adapter_config|model\.safetensors\.index"
    r"|sweep\w*|values|chart|prometheus|grafana\w*|launch|settings|tasks|index|vocab\w*"
    r")\.(ya?ml|toml|json|ini|cfg)$",
    re.IGNORECASE,
)
OF_OTHERS = {"apiVersion", "model_type", "architectures", "services", "jobs", "repos", "program"}
"""Keys at the top of files that are for Kubernetes, model hubs, CI and sweeps."""
OF_HYDRA = {"defaults", "hydra"}
RUNS_PYTHON = re.compile(r"\b(python3?|torchrun|accelerate|deepspeed|srun|uv|poetry|mpirun)\b")
LIKE_CONFIGS = re.compile(
    r"(^|/)(configs?|conf|cfgs?|hparams|options|recipes|experiments?)/"
    r"|(^|/)[\w.-]*(config|conf|cfg|train|hparams|hyp|params|default|base)[\w.-]*\.(ya?ml|toml)$",
    re.IGNORECASE,
)
"""Where configurations lie, and what they are called; a JSON file is as often data."""
TRAINING = re.compile(
    r"(^|_)(lr|learning_rate|batch_?size|epochs?|steps|iters|optimi[sz]er|seed|dropout|warmup"
    r"|compile|weight_decay|scheduler|checkpoint\w*|num_workers|save\w*|eval\w*)($|_)",
    re.IGNORECASE,
)
"""Words of keys of which a training has at least one."""
MOST_NAMESAKES = 3
"""Files of one name; where there are more, they are data, and the name says nothing."""
LEAST_SHARE = 0.6
"""Of its keys, that the code names: a file that is not for it would share a few by chance."""
LEAST_SHARE_IF_NAMED = 0.34
"""The same for a file that the code, or a command that runs it, calls by its name."""


@once
def training_configs(repository: Repository) -> list[ConfigFile]:
    kinds = {
        kind
        for kind, words in LOADS.items()
        if next(repository.python_mentioning(*words), None) is not None
    }
    return [
        config
        for config in repository.configs
        if config.kind in kinds and not config.aside and _is_for_training(repository, config)
    ]


def _is_for_training(repository: Repository, config: ConfigFile) -> bool:
    if OF_TOOLS.search(config.path) or _is_for_another_program(repository, config):
        return False
    is_named = _is_named(repository, config)
    if not (is_named or LIKE_CONFIGS.search(config.path)):
        return False
    entries = config.entries
    if not entries or OF_OTHERS & {entry.path[0] for entry in entries}:
        return False
    keys = {entry.key for entry in entries}
    if not any(TRAINING.search(normal(key)) for key in keys):
        return False
    known = sum(reads(repository).has(key) for key in keys)
    least = LEAST_SHARE_IF_NAMED if is_named else LEAST_SHARE
    return known > 0 and known >= least * len(keys)


def _is_for_another_program(repository: Repository, config: ConfigFile) -> bool:
    """`compressor --config config.toml`: commands name it, and none of them runs Python."""
    commands = _commands_naming(repository, config)
    return bool(commands) and not any(map(RUNS_PYTHON.search, commands))


def _commands_naming(repository: Repository, config: ConfigFile) -> list[str]:
    name = PurePosixPath(config.path).name
    return [
        command.text
        for script in repository.scripts
        if script.mentions(name)
        for command in script.commands
        if name in command.text
    ]


def _is_named(repository: Repository, config: ConfigFile) -> bool:
    name = PurePosixPath(config.path).name
    if _num_namesakes(repository)[name] > MOST_NAMESAKES:
        return False
    in_code = next(repository.python_mentioning(name), None) is not None
    return in_code or bool(_commands_naming(repository, config))


@once
def _num_namesakes(repository: Repository) -> Counter[str]:
    return Counter(PurePosixPath(config.path).name for config in repository.configs)


def own_entries(config: ConfigFile) -> list[Entry]:
    """Entries that code reads by their names.

    Not those of lists, nor what a class is made of, nor what Hydra itself reads.
    """
    made = {entry.path[:-1] for entry in config.entries if entry.path[-1] == "_target_"}
    return [
        entry
        for entry in config.entries
        if entry.path[0] not in OF_HYDRA
        and not any(part.isdigit() for part in entry.path)
        and entry.key.replace("-", "_").isidentifier()
        and not any(entry.path[: len(path)] == path for path in made)
    ]
