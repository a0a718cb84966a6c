"""English."""

from __future__ import annotations

from instride.doctor.languages import en_habits, en_machine, en_saving
from instride.doctor.languages.contract import DoctorWords
from instride.doctor.languages.template import Wording, Writer
from instride.explain.languages import LANGUAGES

WORDINGS: dict[str, Wording] = en_machine.WORDINGS | en_saving.WORDINGS | en_habits.WORDINGS
"""With what the pages of the reference say."""

PHRASES = {
    "repository": "{files:file|files} read, {rules:rule|rules} checked",
    "machine": "this machine",
    "machine-only": "{rules:rule|rules} checked",
    "checkpoints": "checkpoints in {paths}",
    "clean": "Nothing found.",
    "clean-so-far": "Nothing found until the time was up.",
    "findings": "{findings:finding|findings}",
    "order": ", worst first",
    "cost": "takes {cost} from each hour of training",
    "fix": "Fix: {fix}",
    "more-places": "and {places:more place|more places}",
    "more-lines": "and {lines:more line|more lines} (--json has all)",
    "more-findings": "and {findings} more (--json has all)",
    "not-told": "Not told: ",
    "next": "next: ",
    "next-repository": "looks at the training code too",
    "next-log": "what saves really cost",
    "next-json": "everything, for programs",
    "about-machine": "The machine",
    "about-repository": "The repository",
    "silence": "To silence a rule, write beside the line",
    "silence-all": "or, for the whole repository, in its pyproject.toml",
}
UNKNOWNS = {
    "no-repository": "Only the machine was looked at, as no repository was named.",
    "no-checkpoints": "Nothing says where on this machine checkpoints go; name the directory with"
    " --checkpoints.",
    "cut-short": "The time was up before {rules:rule was|rules were} gone through: {names}.",
    "rule-failed": "The rule {rule} stopped at something unexpected here ({error}).",
    "skipped-too-large": "Not read: {files:file|files} too large for code ({path}).",
    "skipped-too-many": "Not read: what comes after the first files, so many are there ({path}).",
    "skipped-too-deep": "Not read: {files:folder|folders} nested too deep ({path}).",
    "skipped-unreadable": "Not read: {files:file|files} that may not be opened ({path}).",
    "skipped-not-python-3": "Not read: {files:file|files} in Python 2 ({path}).",
    "skipped-broken": "Not read: {files:file that does|files that do} not parse ({path}).",
    "skipped-time": "Not read, as the time was up: {files:file|files} ({path}).",
}

WORDS = DoctorWords(
    code="en",
    writer=Writer(LANGUAGES["en"]),
    sayings=WORDINGS,
    unknowns=UNKNOWNS | en_machine.UNKNOWNS | en_saving.UNKNOWNS | en_habits.UNKNOWNS,
    certainties={"sure": "sure", "likely": "likely", "perhaps": "perhaps"},
    phrases=PHRASES,
)
