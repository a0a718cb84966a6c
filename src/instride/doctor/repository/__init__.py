"""A training repository as the rules see it: Python as trees, configurations as entries."""

from instride.doctor.repository.collecting import uncollected
from instride.doctor.repository.configs import ConfigFile, Entry
from instride.doctor.repository.files import Skipped, TextFile, Why
from instride.doctor.repository.python import Budget, PythonFile, TimeIsUp
from instride.doctor.repository.reading import Repository, read_repository
from instride.doctor.repository.scripts import Command, ScriptFile

__all__ = [
    "Budget",
    "Command",
    "ConfigFile",
    "Entry",
    "PythonFile",
    "Repository",
    "ScriptFile",
    "Skipped",
    "TextFile",
    "TimeIsUp",
    "Why",
    "read_repository",
    "uncollected",
]
