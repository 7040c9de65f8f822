"""What the distribution requires, by itself, by its extras and through these; and what its modules import."""

import ast
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import EXAMPLES

ROOT = EXAMPLES.parent
RUNTIME = ("discorag", "graphs", "interfaces", "nodes", "prompts", "eval")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
_PROJECT = PYPROJECT["project"]
CORE = [Requirement(r) for r in _PROJECT["dependencies"]]
EXTRAS = {name: [Requirement(r) for r in listed] for name, listed in _PROJECT["optional-dependencies"].items()}
GROUPS = {name: [Requirement(r) for r in listed] for name, listed in PYPROJECT["dependency-groups"].items()}
"""What developers need, and no distribution brings."""


@cache
def imported() -> set[str]:
    """The top-level modules of others that the runtime imports somewhere."""
    tops: set[str] = set()
    for file in (f for folder in RUNTIME for f in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                tops |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                tops.add(node.module.split(".")[0])
    return tops - {*RUNTIME, *sys.stdlib_module_names}


def names(requirements: Iterable[Requirement]) -> set[str]:
    """The distributions that are asked for."""
    return {canonicalize_name(r.name) for r in requirements}


def closure(requirements: Iterable[Requirement]) -> set[str]:
    """The distributions that are asked for, and those that they ask for on this machine."""
    seen: set[tuple[str, str]] = set()
    waiting = list(requirements)
    while waiting:
        requirement = waiting.pop()
        for asked in ("", *requirement.extras):
            key = (canonicalize_name(requirement.name), asked)
            if key not in seen:
                seen.add(key)
                waiting += [r for r in _asked_by(key[0]) if r.marker is None or r.marker.evaluate({"extra": asked})]
    return {name for name, _ in seen}


@cache
def _asked_by(name: str) -> list[Requirement]:
    try:
        return [Requirement(r) for r in requires(name) or ()]
    except PackageNotFoundError as error:
        raise AssertionError(f"{name} is not installed: the licences of what it asks for are unknown.") from error
