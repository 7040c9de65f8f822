"""Reading takes time in proportion to the length of a file, whatever stands in it again and again."""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from discorag.ingest.loaders import load
from discorag.ingest.segment.headings import build_hierarchy

_SMALL, _TIMES, _BOUND = 1_500, 8, 24  # characters; how much longer the long file is; and may take at most
_TRIES = 3


def _numbered(form: str) -> Callable[[int], str]:
    return lambda size: "".join(form.format(i) for i in range(size // len(form)))


def _repeated(form: str) -> Callable[[int], str]:
    return _in("", form)


def _in(before: str, form: str, after: str = "") -> Callable[[int], str]:
    return lambda size: before + form * (size // len(form)) + after


_HIDDEN, _CLASSES = _numbered(".c{}{{display:none}}"), _numbered("<p class=d{}>a")

_CASES: dict[str, tuple[str, Callable[[int], str]]] = {
    "raised": ("html", _repeated("2<sup>3</sup>")),
    "lowered": ("html", _repeated("x<sub>i</sub> ")),
    "fractions": ("html", _repeated("<sup>1</sup>/<sub>2</sub> ")),
    "struck": ("html", _repeated("a <s>b</s> c<br>")),
    "check boxes": ("html", _repeated("<input type=checkbox>a ")),
    "equations": ("html", _repeated("<math><mn>1</mn></math> a ")),
    "rules": ("html", lambda size: f"<style>{_HIDDEN(size // 2)}</style>{_CLASSES(size // 2)}"),
    "references to one note": ("html", _in("", "<sup><a href='#n'>1</a></sup> a ", "<p id=n>1 Note")),
    "terms": ("html", _in("<dl>", "<dt>a</dt><dd>b</dd>", "</dl>")),
    "items": ("html", _in("<ol>", "<li>a</li>", "</ol>")),
    "rows": ("html", _in("<table>", "<tr><td>a<td>b", "</table>")),
    "rows of names": ("html", _in("<table>", "<tr><th>a", "</table>")),
    "brackets of tags": ("html", lambda n: "a " + "<" * n),
    "tables of HTML": ("md", _repeated("<table><tr><th>a<tr><td>b</table>\n\n")),
    "tables without an end": ("md", _repeated("<table>\n\n")),
    "tildes": ("md", _repeated("a ~~b ")),
    "struck sentences": ("md", _repeated("Say a. ~~Say b.~~ ")),
    "backticks": ("md", lambda n: "~~ " + " ".join("`" * i for i in range(1, int((2 * n) ** 0.5)))),
    "openings of notes": ("md", _repeated("[^")),
    "brackets": ("md", _repeated("[")),
    "cells": ("csv", lambda n: f"{'a,' * (n // 4)}b\n{'1,' * (n // 4)}2\n"),
}


@pytest.mark.parametrize("name", _CASES)
def test_a_longer_file_takes_longer_in_proportion(name: str, tmp_path: Path) -> None:
    """The processor time of the best of some tries, so that a busy machine does not matter."""
    suffix, make = _CASES[name]
    small, large = tmp_path / f"small.{suffix}", tmp_path / f"large.{suffix}"
    small.write_text(make(_SMALL), "utf-8")
    large.write_text(make(_SMALL * _TIMES), "utf-8")
    _seconds(small)
    ratios = (_seconds(large) / max(0.005, _seconds(small)) for _ in range(_TRIES))
    assert any(ratio < _BOUND for ratio in ratios)


def _seconds(path: Path) -> float:
    start = process_time()
    build_hierarchy(load(path, max_bytes=10**6))
    return process_time() - start
