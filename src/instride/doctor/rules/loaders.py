"""Data loaders as the code makes them: their workers, and who goes through them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.rules.loops import NOT_TRAINERS, last_name, step_loops
from instride.doctor.rules.remembering import once

MAKERS = {
    "torch.utils.data.DataLoader",
    "torch.utils.data.dataloader.DataLoader",
    "torchdata.stateful_dataloader.StatefulDataLoader",
}
POSITIONS = {"num_workers": 5, "pin_memory": 7}
LIGHTNING_HOOK = re.compile(r"(train|val|test|predict)_dataloader")
ONE_EPOCH = re.compile(r"max_epochs\s*=\s*1\b")
TRAINS = (".fit(", ".train()", "def training_step(")
IN_MEMORY = re.compile(r"\w*(TensorDataset|Synthetic|Dummy|Fake|Random)\w*")


class Loader(msgspec.Struct, frozen=True, eq=False):
    """A call that makes a data loader, all of whose settings can be seen."""

    file: PythonFile
    call: ast.Call
    name: str
    """The variable it is kept in, or the function that returns it."""
    is_returned: bool

    def setting(self, name: str) -> ast.expr | None:
        """What is given for a setting."""
        for keyword in self.call.keywords:
            if keyword.arg == name:
                return keyword.value
        position = POSITIONS.get(name)
        if position is not None and len(self.call.args) > position:
            return self.call.args[position]
        return None

    def has(self, name: str) -> bool:
        """Whether a setting is given, and not as `False`."""
        value = self.setting(name)
        return value is not None and not (isinstance(value, ast.Constant) and not value.value)

    @property
    def num_workers(self) -> int | None:
        """None where it cannot be told."""
        value = self.setting("num_workers")
        return 0 if value is None else _number(self.file, value)

    @property
    def is_for_training(self) -> bool:
        shuffle = self.setting("shuffle")
        is_shuffled = isinstance(shuffle, ast.Constant) and shuffle.value is True
        words = self.name.lower().split("_")
        if {"val", "valid", "validation", "eval", "test", "dev", "predict"} & set(words):
            return False
        return is_shuffled or "train" in self.name.lower()

    @property
    def is_in_memory(self) -> bool:
        """Whether its batches are only cut out of tensors that are there already."""
        dataset = self.setting("dataset") or (self.call.args[0] if self.call.args else None)
        if dataset is None:
            return False
        name = last_name(dataset)
        made_by = [last_name(value) for value in _values(self.file, name)]
        return any(IN_MEMORY.fullmatch(each) for each in (name, *made_by))

    @property
    def is_made_anew(self) -> bool:
        """Whether every epoch makes its own: workers cannot outlive their loader."""
        return bool(self.file.loops_of(self.call))

    @property
    def is_endless(self) -> bool:
        """Whether its sampler is told how much to draw: then it need never begin again."""
        sampler = self.setting("sampler")
        if sampler is None:
            return False
        makers = [sampler, *_values(self.file, last_name(sampler))]
        return any(
            isinstance(each, ast.Call) and any(key.arg == "num_samples" for key in each.keywords)
            for each in makers
        )

    @property
    def starts_again(self) -> bool:
        """Whether it is gone through again and again: in a loop of epochs, or by a trainer."""
        if self.is_returned and LIGHTNING_HOOK.fullmatch(self.name):
            return not ONE_EPOCH.search(self.file.text)
        return any(self._is_used_again(node) for node in self.file.nodes(ast.For, ast.Call))

    def _is_used_again(self, node: ast.AST) -> bool:
        """`for epoch in ...: for batch in loader`, or `for epoch in ...: train(loader)`."""
        if isinstance(node, ast.For):
            used: ast.AST = node.iter
        elif isinstance(node, ast.Call) and not _only_looks(node):
            used = ast.Tuple([*node.args, *(each.value for each in node.keywords)], ast.Load())
        else:
            return False
        kinds = ast.Name | ast.Attribute
        names = {last_name(each) for each in ast.walk(used) if isinstance(each, kinds)}
        return self.name in names and bool(self.file.loops_of(node))


def _only_looks(call: ast.Call) -> bool:
    return last_name(call.func) in {"len", "next", "print"}


@once
def loaders(repository: Repository) -> list[Loader]:
    """The loaders of a repository; those of its examples only where it has no others."""
    trainers = {loop.file.path for loop in step_loops(repository)}
    found = [
        loader
        for file in repository.python_mentioning("DataLoader")
        if not NOT_TRAINERS.search(file.path) and _may_train(file, trainers)
        for loader in _loaders_of(file)
    ]
    return [loader for loader in found if not loader.file.aside] or found


def _may_train(file: PythonFile, trainers: set[str]) -> bool:
    """A script that is run by itself and has no training in it measures or converts something."""
    if file.path in trainers or file.mentions(*TRAINS):
        return True
    return not file.mentions("__main__")


def _loaders_of(file: PythonFile) -> Iterator[Loader]:
    for call in file.calls(*MAKERS):
        if any(keyword.arg is None for keyword in call.keywords):
            continue  # `**options`: what it is given cannot be seen
        match file.parent(call):
            case ast.Assign([ast.Name(name) | ast.Attribute(attr=name)]):
                yield Loader(file, call, name, False)
            case ast.Return():
                function = file.function_of(call)
                yield Loader(file, call, function.name if function is not None else "", True)


def _number(file: PythonFile, value: ast.expr) -> int | None:
    """A number as it stands, or the only one that a name or an option of the file has."""
    if isinstance(value, ast.Constant):
        return value.value if isinstance(value.value, int) else None
    name = last_name(value)
    if not isinstance(value, ast.Name | ast.Attribute):
        return None
    numbers = {
        each.value if isinstance(each, ast.Constant) and isinstance(each.value, int) else None
        for each in _values(file, name)
    }
    return numbers.pop() if len(numbers) == 1 else None


def _values(file: PythonFile, name: str) -> Iterator[ast.expr]:
    """What a name is set to in a file, and the defaults of options of that name."""
    for assign in file.nodes(ast.Assign):
        if any(last_name(target) == name for target in assign.targets):
            yield assign.value
    for annotated in file.nodes(ast.AnnAssign):
        if annotated.value is not None and last_name(annotated.target) == name:
            yield annotated.value
    for call in file.nodes(ast.Call):
        if last_name(call.func) == "add_argument" and _names_option(call, name):
            yield from (each.value for each in call.keywords if each.arg == "default")


def _names_option(call: ast.Call, name: str) -> bool:
    return any(
        isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and each.value.lstrip("-").replace("-", "_") == name
        for each in call.args
    )
