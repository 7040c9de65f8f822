"""Slides before they are read: their text as PowerPoint shows it, with numbers of lists and without what is struck."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from discorag.ingest.convert.equations import EQUATION
from discorag.ingest.convert.marks import STRUCK, Run, join_runs
from discorag.ingest.convert.numbers import written
from discorag.ingest.convert.office import put_content, run_of, text_of, write_equation

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_STRIKES = ("sngStrike", "dblStrike")
_AUTOMATIC = re.compile(r"(arabic|(alpha|roman)(Lc|Uc))(Period|ParenR|ParenBoth|Plain)")
_FORMS = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}


def write_slide(slide: _Element) -> Counter[str]:
    """Change the XML of a slide into text on the line, and count what of it is not read."""
    unread = Counter[str]()
    for choice in list(slide.iter("{*}Choice")):
        _unwrap(choice)
    for body in slide.iter("{*}txBody"):
        counts: dict[int, tuple[str, int]] = {}
        for paragraph in body.iterchildren("{*}p"):
            for part in list(paragraph.iterchildren("{*}m")):
                unread[EQUATION] += write_equation(part, next(part.iterchildren("*"), part))
            unread[STRUCK] += _write_runs(paragraph)
            _write_number(paragraph, counts)
    return +unread


def _unwrap(choice: _Element) -> None:
    """Put an equation that a newer PowerPoint shows in the place of the alternatives."""
    alternatives = choice.getparent()
    if alternatives is not None and next(choice.iter("{*}oMath", "{*}oMathPara"), None) is not None:
        put_content(choice, instead_of=alternatives)


def _write_runs(paragraph: _Element) -> int:
    """Take out struck runs and write the others on the line. Returns how many passages were struck."""
    struck = 0
    for is_run, group in groupby(list(paragraph.iterchildren("*")), key=lambda part: part.tag.endswith("}r")):
        runs = list(group) if is_run else []
        gone = [_property(run, "strike") in _STRIKES for run in runs]
        struck += sum(now and not before for before, now in zip([False, *gone], gone, strict=False))
        kept = [run for run, is_gone in zip(runs, gone, strict=True) if not is_gone]
        if any(gone) or any(map(_level, kept)):
            whole = join_runs(Run(text_of(run), _level(run)) for run in kept)
            for i, run in enumerate(runs):
                for text in run.iterchildren("{*}t"):
                    text.text = "" if i else whole
    return struck


def _level(run: _Element) -> int:
    value = _property(run, "baseline").rstrip("%")
    return 0 if value in ("", "0") else -1 if value.startswith("-") else 1


def _property(run: _Element, name: str) -> str:
    properties = run.find("{*}rPr")
    return "" if properties is None else properties.get(name, "")


def _write_number(paragraph: _Element, counts: dict[int, tuple[str, int]]) -> None:
    """Write the number of an item before its text; ``counts`` has the form and the last number of each level."""
    properties = paragraph.find("{*}pPr")
    level = int(properties.get("lvl", "0")) if properties is not None else 0
    automatic = paragraph.find("{*}pPr/{*}buAutoNum")
    form = _AUTOMATIC.fullmatch(automatic.get("type", "")) if automatic is not None else None
    if not text_of(paragraph).strip():
        return
    for deeper in [other for other in counts if other > level or (form is None and other == level)]:
        del counts[deeper]
    if automatic is None or form is None:
        return
    start = int(automatic.get("startAt", "1"))
    kind, last = counts.get(level, ("", 0))
    number = last + 1 if kind == form[0] and last >= start else start
    counts[level] = form[0], number
    case = "lower" if form[3] == "Lc" else "upper"
    name = "decimal" if form[1] == "arabic" else f"{case}{'Letter' if form[2] == 'alpha' else 'Roman'}"
    paragraph.insert(1, run_of(f"{_FORMS[form[4]].format(written(number, name))} ", paragraph))
