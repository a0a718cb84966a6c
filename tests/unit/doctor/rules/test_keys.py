"""Keys of configurations: twins and unread ones are found, whatever way the code reads the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.doctor.model import Certainty
from tests.unit.doctor.rules.trying import found, lines

YAML = """\
out_dir: checkpoints
learning_rate: 0.0003
batch_size: 32
use_torch_compile: false
"""
USES = """
print(config.out_dir, config.learning_rate, config.batch_size)
if config.compile:
    model = torch.compile(model)
"""
INDEXED = """
print(config["out_dir"], config["learning_rate"], config["batch_size"])
if config.get("compile", True):
    model = torch.compile(model)
"""
FIELDS = """
@dataclass
class Config:
    out_dir: str = "out"
    learning_rate: float = 0.1
    batch_size: int = 8
    compile: bool = True
"""
READERS = {
    "a mapping": 'config = yaml.safe_load(open("config.yaml"))\n' + INDEXED,
    "known fields of a class": FIELDS
    + "raw = yaml.safe_load(open('config.yaml'))\n"
    + "config = Config(**{k: v for k, v in raw.items() if k in Config.__dataclass_fields__})\n"
    + USES,
    "attributes that are there": FIELDS
    + "config = Config()\n"
    + "for key, value in yaml.safe_load(open('config.yaml')).items():\n"
    + "    if hasattr(config, key):\n        setattr(config, key, value)\n"
    + USES,
    "a class with both fields": FIELDS
    + "    use_torch_compile: bool = True\n\n\n"
    + "config = Config(**yaml.safe_load(open('config.yaml')))\n"
    + USES,
    "options of a parser": "parser = argparse.ArgumentParser()\n"
    + "parser.add_argument('--compile', default=True)\n"
    + "parser.set_defaults(**yaml.safe_load(open('config.yaml')))\n"
    + "config = parser.parse_args()\n"
    + USES,
    "attributes of a class": "class Config:\n    compile = True\n\n"
    + "for key, value in yaml.safe_load(open('config.yaml')).items():\n"
    + "    setattr(Config, key, value)\nconfig = Config()\n"
    + USES,
    "OmegaConf": "config = OmegaConf.load('config.yaml')\nwandb.init(config=config)\n"
    + USES.replace("config.compile", "getattr(config, 'compile', True)"),
}


def repository(code: str, config: str = YAML) -> dict[str, str]:
    return {"train.py": "import yaml\n" + code, "config.yaml": config}


@pytest.mark.parametrize("code", READERS.values(), ids=READERS)
def test_a_key_with_a_twin_is_found_however_the_code_reads_it(tmp_path: Path, code: str) -> None:
    [finding] = found("twin-keys", tmp_path, repository(code))
    facts = finding.facts
    assert (facts["key"], facts["value"], facts["place"]) == (
        "use_torch_compile",
        "false",
        "config.yaml:4",
    )
    assert (facts["read"], facts["read_value"]) == ("compile", "true")
    assert finding.certainty is Certainty.LIKELY
    assert "-use_torch_compile: false\n+compile: false\n" in finding.fixes[0].text
    assert found("unused-key", tmp_path, {}) == []


@pytest.mark.parametrize(
    "code",
    [
        READERS["a mapping"],
        'config = SimpleNamespace(**yaml.safe_load(open("config.yaml")))\n' + USES,
    ],
)
def test_twins_in_one_file_become_one_key(tmp_path: Path, code: str) -> None:
    files = repository(code, YAML + "compile: true\n")
    [finding] = found("twin-keys", tmp_path, files)
    assert finding.facts["set_place"] == "config.yaml:5"
    assert "-use_torch_compile: false\n-compile: true\n+compile: false" in finding.fixes[0].text
    assert lines(finding)[0] == ("config.yaml", 4)


def test_a_twin_in_a_section_of_toml_is_found(tmp_path: Path) -> None:
    code = """
        import tomllib
        config = tomllib.load(open("config.toml", "rb"))
        training = config["training"]
        print(training["lr"], training.get("save_interval", 100))
        """
    text = "[training]\nlr = 0.1\nsave_every = 5000\n"
    [finding] = found("twin-keys", tmp_path, {"train.py": code, "config.toml": text})
    assert finding.facts["read"] == "save_interval"
    assert "+save_interval = 5000" in finding.fixes[0].text


def test_a_misspelt_key_is_a_twin(tmp_path: Path) -> None:
    config = YAML.replace("use_torch_compile: false", "warmup_setps: 100")
    code = READERS["a mapping"] + "print(config.get('warmup_steps', 2000))\n"
    [finding] = found("twin-keys", tmp_path, repository(code, config))
    assert finding.facts["read"] == "warmup_steps"


@pytest.mark.parametrize(
    ("code", "config"),
    [
        (READERS["a mapping"], YAML.replace("false", "true")),
        (READERS["a mapping"], YAML.replace("false", "3")),
        (READERS["a mapping"] + "print(config['use_torch_compile'])\n", YAML),
        (READERS["a mapping"] + "for key in ('use_torch_compile', 'lr'):\n    print(key)\n", YAML),
        (READERS["a mapping"].replace('get("compile", True)', 'get("compile")'), YAML),
        ("config = yaml.safe_load(open('config.yaml'))\ntorch.compile(model)\n", YAML),
        (READERS["a mapping"] + "def f(use_torch_compile):\n    pass\nf(**config)\n", YAML),
    ],
    ids=["same value", "other kind", "read", "in a list", "no default", "of a module", "parameter"],
)
def test_no_twin_is_told_where_there_is_none(tmp_path: Path, code: str, config: str) -> None:
    assert found("twin-keys", tmp_path, repository(code, config)) == []


def test_a_twin_in_a_configuration_that_goes_somewhere_unseen_is_only_perhaps(
    tmp_path: Path,
) -> None:
    code = READERS["a mapping"] + "Engine(**config)\n"
    [finding] = found("twin-keys", tmp_path, repository(code))
    assert finding.certainty is Certainty.PERHAPS


UNUSED = YAML.replace("use_torch_compile: false", "frobnicate: 3")


def test_a_key_that_no_code_mentions_is_found(tmp_path: Path) -> None:
    [finding] = found("unused-key", tmp_path, repository(READERS["a mapping"], UNUSED))
    assert finding.facts == {"key": "frobnicate", "place": "config.yaml:4"}
    assert "-frobnicate: 3\n" in finding.fixes[0].text


@pytest.mark.parametrize(
    "more",
    [
        "# frobnicate is read by a plugin\n",
        "Engine(**config)\n",
        "for key, value in config.items():\n    make(key, value)\n",
        "from transformers import HfArgumentParser\n",
        "value = config[name()]\nother = config[args.name]\n",
        "frob = config.get(f'frob{kind}')\n",
    ],
)
def test_keys_that_may_be_read_in_some_way_are_left_alone(tmp_path: Path, more: str) -> None:
    assert found("unused-key", tmp_path, repository(READERS["a mapping"] + more, UNUSED)) == []


@pytest.mark.parametrize(
    "use",
    [
        "AdamW(params, **config['optimizer'])",
        "options = config.get('optimizer', {})\nAdamW(params, **options)",
        "hydra.utils.instantiate(config['optimizer'])",
        "for name in config['optimizer']:\n    print(name)",
        "deepspeed.initialize(config=config['optimizer'])",
        "Namespace(**config['optimizer'])\nTrainer.from_args(config['optimizer'])",
        "def build(options):\n    return AdamW(**options)\n\nbuild(config['optimizer'])",
        "def build(part):\n    for name in part.items():\n        use(name)\n\n"
        "def all(parts):\n    build(parts['optimizer'])\n\nall(config)",
        "class Build:\n    def __init__(self, part):\n        self.part = part\n\n"
        "    def make(self):\n        return AdamW(**self.part)\n\nBuild(config['optimizer'])",
        "class Store:\n    def make(self, name):\n        given = dict(self[name]['optimizer'])\n"
        "        return AdamW(**given)\n",
    ],
)
def test_a_part_that_is_handed_on_as_a_whole_is_left_alone(tmp_path: Path, use: str) -> None:
    config = YAML.replace("use_torch_compile: false", "optimizer:\n  foreach_frob: true")
    code = READERS["a mapping"] + use + "\n"
    assert found("unused-key", tmp_path, repository(code, config)) == []


@pytest.mark.parametrize(
    "config",
    [
        "defaults:\n  - frobnicate: null",
        "hydra:\n  frobnicate: 1",
        "frobnicate: 1\nname: ${frobnicate}",
        "stages:\n  - frobnicate: 1",
        "description: of frobnication",
    ],
)
def test_what_configurations_need_for_themselves_is_left_alone(tmp_path: Path, config: str) -> None:
    files = repository(READERS["a mapping"], YAML.replace("use_torch_compile: false", config))
    assert found("unused-key", tmp_path, files) == []


def test_what_a_class_is_made_of_is_left_alone(tmp_path: Path) -> None:
    config = YAML.replace(
        "use_torch_compile: false", "optimizer:\n  _target_: torch.optim.AdamW\n  frobnicate: 1"
    )
    files = repository(READERS["a mapping"], config)
    assert found("unused-key", tmp_path, files) == []


@pytest.mark.parametrize(
    "name",
    [
        "pyproject.toml",
        ".github/workflows/train.yaml",
        "deepspeed_config.json",
        "tests/config.yaml",
        "environment.yaml",
        "configs/accelerate_config.yaml",
    ],
)
def test_files_of_other_tools_are_left_alone(tmp_path: Path, name: str) -> None:
    text = UNUSED if name.endswith("yaml") else '{"learning_rate": 1, "batch_size": 2, "frob": 3}'
    if name.endswith("toml"):
        text = "[tool.x]\nlearning_rate = 1\nbatch_size = 2\nfrobnicate = 3\n"
    code = READERS["a mapping"] + f"# {name}\nimport json, tomllib\njson.load, tomllib.load\n"
    assert found("unused-key", tmp_path, {"train.py": "import yaml\n" + code, name: text}) == []


def test_the_configuration_of_another_program_is_left_alone(tmp_path: Path) -> None:
    code = "import tomllib\n" + READERS["a mapping"]
    files = {
        "train.py": code,
        "config.toml": "learning_rate = 1\nbatch_size = 2\nfrobnicate = 3\n",
        "Makefile": "train:\n\tpacker --config config.toml &\n\tpython train.py\n",
    }
    assert found("unused-key", tmp_path, files) == []
    files["Makefile"] = "train:\n\tpython train.py --config config.toml\n"
    assert len(found("unused-key", tmp_path, files)) == 1
