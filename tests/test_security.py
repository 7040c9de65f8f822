"""The promises of SECURITY.md have the tests that it names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_test_that_stands_behind_a_promise_exists() -> None:
    promises = [line for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines() if "::" in line]
    named = [_TEST.search(line) for line in promises]
    assert len(promises) > 10
    assert all(named), "a promise without a test"
    assert [found.group() for found in named if found and found.group(2) not in names_in(found.group(1))] == []


def names_in(file: str) -> set[str]:
    path = ROOT / file
    if not path.exists():
        return set()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)}
