"""Word tables that edits are made with, read from ``tables.toml`` and ``opposites.txt``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

_HOME = Path(__file__).parent
_TABLES: dict[str, Any] = tomllib.loads((_HOME / "tables.toml").read_text("utf-8"))
_IRREGULAR: dict[str, str] = _TABLES["irregular"]
_LEFT = (
    "and",
    "will",
    "must",
    "certain",
    "certainly",
    "exactly",
    "even",
)  # no weaker word takes their place


def _others(groups: list[str]) -> dict[str, tuple[str, ...]]:
    """Each word with the others of its groups."""
    table: dict[str, tuple[str, ...]] = {}
    for members in (group.split("|") for group in groups):
        for m in members:
            table[m] = tuple(dict.fromkeys((*table.get(m, ()), *(o for o in members if o != m))))
    return table


def _patterns(name: str) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), new) for pattern, new in _TABLES[name]]


def _opposites() -> dict[str, tuple[str, ...]]:
    """Words, also in the past and with an "s", each with words of the other side in the same form."""
    table: dict[str, tuple[str, ...]] = {}
    for line in (_HOME / "opposites.txt").read_text("utf-8").splitlines():
        left, right = (side.split() for side in line.split(" - "))
        for form in (_same, _third, _past):
            for mine, theirs in ((left, right), (right, left)):
                for word in mine:
                    table[form(word)] = (*table.get(form(word), ()), *map(form, theirs))
    return table


def _same(word: str) -> str:
    return word


def _third(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x")) else "s")


def _past(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


NUMBERS = tuple(map(str, _TABLES["numbers"]))
_DIGITS = [*map(str, range(2, 13))]
SAME_NUMBER = [*zip(NUMBERS[1:12], _DIGITS, strict=True), *zip(_DIGITS, NUMBERS[1:12], strict=True)]
AUXILIARIES = frozenset(map(str, _TABLES["auxiliaries"]))
OPENERS = frozenset(map(str, _TABLES["openers"]))
NO_NAMES = frozenset(map(str, _TABLES["no_names"]))
MAGNITUDES = _others(_TABLES["magnitudes"])
TIMES = _others(_TABLES["times"])
QUANTIFIERS = {word: others for word, others in _others(_TABLES["quantifiers"]).items() if word not in _LEFT}
UNNEGATED, DROPPED = _patterns("unnegated"), _patterns("dropped")
SPEAKERS, SPOKEN, LIMITS, LIMITED = (tuple(map(str, _TABLES[n])) for n in ("speakers", "spoken", "limits", "limited"))
OPPOSITES = _opposites()
