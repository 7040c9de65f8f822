"""``docs/papers.md``: every file, function and setting that it names is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAPERS = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
_PLACE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.\w+)(?::([\w.]+))?`")
"""A file in backticks, and behind a colon a name in it: ``path/to/file.py:Name.or.function``."""
PLACES = sorted({(path, name) for path, name in _PLACE.findall(PAPERS)})


def names_in(body: list[ast.stmt]) -> Iterator[tuple[str, list[ast.stmt]]]:
    """What a module or class defines, with what that defines in turn."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name, []
            case ast.ClassDef():
                yield node.name, node.body
            case ast.Assign():
                yield from ((target.id, []) for target in node.targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, []
            case _:
                pass


@cache
def module(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def defines(body: list[ast.stmt], dotted: str) -> bool:
    first, _, rest = dotted.partition(".")
    return any(name == first and (not rest or defines(inner, rest)) for name, inner in names_in(body))


@pytest.mark.parametrize(("path", "name"), PLACES, ids=[f"{p}:{n}" if n else p for p, n in PLACES])
def test_what_the_page_names_exists(path: str, name: str) -> None:
    assert (ROOT / path).is_file()
    if name:
        assert defines(module(path).body, name), f"{path} defines no {name}"


def test_the_page_names_places_and_a_name_that_is_not_there_would_be_found() -> None:
    assert len(PLACES) > 50
    tree = module("discorag/generation/prompted/paper.py").body
    assert defines(tree, "PaperEngine.relate")
    assert not defines(tree, "PaperEngine.relates")
    assert not defines(tree, "relate")
