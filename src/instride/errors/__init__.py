"""Everything instride raises, and the exit code each error ends a command with.

    InstrideError                          2
    |-- UnknownDialectError   (ValueError) 3   `--dialect` names none of the readers
    |-- BadPatternError       (ValueError) 4   `--pattern` cannot be compiled, or lacks groups
    |-- UnknownRuleError      (ValueError) 5   `--only`, or a line that silences, names no rule
    |-- BadSettingError       (ValueError) 6   `[tool.instride.doctor]` of a repository is wrong
    |-- BadConfigError        (ValueError) 7   the configuration of the agent is wrong
    |-- UnreadableLogError    (OSError)    10  missing, a permission, a broken disk
    |-- EmptyLogError         (ValueError) 11
    |-- BinaryLogError        (ValueError) 12
    |-- NoStepsError          (ValueError) 13  no reader found a step
    |-- NoTimesError          (ValueError) 14  steps, but no time that is of use
    |-- NoLogsError           (ValueError) 15  a directory without logs
    |-- UnwritableError       (OSError)    16  what was asked for cannot be written there
    |-- NoRepositoryError     (OSError)    20  the repository is missing, or no directory
    |-- DamagedError          (ValueError) 30  a checkpoint is not what was written
    |-- StoreInUseError     (RuntimeError) 31  another trainer that runs owns the directory
    |-- SaveFailedError       (OSError)    32  a checkpoint could not be written
    |-- NoCheckpointError (FileNotFoundError) 33
    |-- UnsafeStateError      (ValueError) 34  `strict=True`, and not only numbers and tensors
    |-- StorageStuckError   (TimeoutError) 35  the disk does not answer
    |-- StateTooLargeError   (MemoryError) 36  no room for a snapshot
    |-- MismatchError         (ValueError) 37  a checkpoint and what it is restored into differ
    |-- UnsafeCheckpointError (ValueError) 38  reading it could run code
    |-- SaveSkippedError    (RuntimeError) 39  the one before was still being written
    |-- NoStoreError             (OSError) 40  the checkpoints to look at are not there
    |-- MissingLibraryError  (ImportError) 41  a verb needs what is not installed
    |-- NotExportableError    (ValueError) 42  nothing in a checkpoint that could be exported
    |-- OverwriteError   (FileExistsError) 43  the file to write is there already
    |-- PackError             (ValueError) 44  a file cannot be packed or unpacked
    |-- NoAgentError             (OSError) 45  no agent ever worked in the directory
    |-- BenchFailedError    (RuntimeError) 50  a benchmark could not be run here
    |-- NeedsLinuxError     (RuntimeError) 51  the agent on another system
    `-- CannotResumeError     (ValueError) 52  a benchmark that was stopped, of other conditions

A message says what failed, with the value in backticks; the hint is a command that works. An error
carries texts with gaps, and facts that fill them: its own words are English, and `cli` lets a
language fill the texts that it has under the same names.
"""

from __future__ import annotations

from instride.errors.agent import BadConfigError as BadConfigError
from instride.errors.agent import NoAgentError as NoAgentError
from instride.errors.base import InstrideError as InstrideError
from instride.errors.base import looking_at as looking_at
from instride.errors.benches import BenchFailedError as BenchFailedError
from instride.errors.benches import CannotResumeError as CannotResumeError
from instride.errors.checkpoints import DamagedError as DamagedError
from instride.errors.checkpoints import MismatchError as MismatchError
from instride.errors.checkpoints import MissingLibraryError as MissingLibraryError
from instride.errors.checkpoints import NoCheckpointError as NoCheckpointError
from instride.errors.checkpoints import NoStoreError as NoStoreError
from instride.errors.checkpoints import NotExportableError as NotExportableError
from instride.errors.checkpoints import OverwriteError as OverwriteError
from instride.errors.checkpoints import PackError as PackError
from instride.errors.checkpoints import UnsafeCheckpointError as UnsafeCheckpointError
from instride.errors.doctor import BadSettingError as BadSettingError
from instride.errors.doctor import NoRepositoryError as NoRepositoryError
from instride.errors.doctor import UnknownRuleError as UnknownRuleError
from instride.errors.logs import BadPatternError as BadPatternError
from instride.errors.logs import BinaryLogError as BinaryLogError
from instride.errors.logs import EmptyLogError as EmptyLogError
from instride.errors.logs import NoLogsError as NoLogsError
from instride.errors.logs import NoStepsError as NoStepsError
from instride.errors.logs import NoTimesError as NoTimesError
from instride.errors.logs import UnknownDialectError as UnknownDialectError
from instride.errors.logs import UnreadableLogError as UnreadableLogError
from instride.errors.logs import UnwritableError as UnwritableError
from instride.errors.misspelt import nearest as nearest
from instride.errors.saving import NeedsLinuxError as NeedsLinuxError
from instride.errors.saving import SaveFailedError as SaveFailedError
from instride.errors.saving import SaveSkippedError as SaveSkippedError
from instride.errors.saving import StateTooLargeError as StateTooLargeError
from instride.errors.saving import StorageStuckError as StorageStuckError
from instride.errors.saving import StoreInUseError as StoreInUseError
from instride.errors.saving import UnsafeStateError as UnsafeStateError
