"""Says a finding in every language, which fails where a rule gives other facts than they want."""

from __future__ import annotations

from instride.doctor.languages import LANGUAGES
from instride.doctor.languages.template import names_of
from instride.doctor.model import Finding


def said(finding: Finding) -> dict[str, str]:
    """Title, sentence and fix of a finding, by language."""
    texts = {}
    for code, words in LANGUAGES.items():
        saying = words.sayings.get(finding.rule)
        assert saying is not None, f"{finding.rule} says nothing in {code}"
        wanted = names_of(saying.sentence) | names_of(saying.fix)
        missing = wanted - finding.facts.keys()
        assert not missing, f"{finding.rule} gives no {sorted(missing)}, as {code} wants"
        parts = (words.title(finding.rule), words.sentence(finding), words.fix(finding))
        texts[code] = "\n".join(parts)
    return texts
