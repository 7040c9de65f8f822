"""The examples in docstrings, run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests import house
from tests.conftest import Pipelines

TRIAL = "Vitamin D lowered the risk of influenza by 12 % in schoolchildren."
REVIEW = "Vitamin D did not lower the risk of influenza."
EXAMPLES = [c for c in house.public_classes() if c.example]


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda c: f"{c.module}.{c.name}")
def test_the_example_prints_what_it_says(found: house.PublicClass, pipeline: Pipelines, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in {"trial.md": TRIAL, "review.md": REVIEW}.items():
        (notes / name).write_text(text, "utf-8")
    names = {"notes": notes, "rag": pipeline()}
    parsed = doctest.DocTestParser().get_doctest(found.example, names, found.name, found.path, 0)
    printed: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(parsed, out=printed.append)
    assert tried
    assert not failed, "".join(printed)
