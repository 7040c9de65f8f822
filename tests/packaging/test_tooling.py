"""The checks before a commit and on GitHub are those of the Makefile."""

import re
from typing import Any

import yaml

from tests.packaging.requirements import GROUPS, PYPROJECT, ROOT, names


def read(path: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def test_github_runs_what_ci_runs_on_the_lowest_and_the_highest_python() -> None:
    [job] = read(".github/workflows/test.yml")["jobs"].values()
    assert job["steps"][-1] == {"run": ".ci/run"}
    listed = [c.rpartition(" ")[2] for c in PYPROJECT["project"]["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert PYPROJECT["project"]["requires-python"] == f">={listed[0]}"
    assert job["strategy"]["matrix"]["python"] == [listed[0], listed[-1]]


def test_a_commit_is_checked_by_tools_that_the_development_environment_has() -> None:
    [local] = read(".pre-commit-config.yaml")["repos"]
    tools = {hook["id"]: hook["entry"].removeprefix(".venv/bin/").split()[0] for hook in local["hooks"]}
    assert set(tools.values()) == {"ruff", "mdformat", "pyright"} <= names(GROUPS["dev"])
    [pages] = [hook["files"] for hook in local["hooks"] if hook["id"] == "mdformat"]
    every = {
        str(file.relative_to(ROOT))
        for folder in ("docs", "bench", "eval", "examples", "nodes")
        for file in (ROOT / folder).rglob("*.md")
    }
    checked = {page for page in every if re.match(pages, page)}
    made = {page for page in every if page.startswith("docs/") or page.endswith("/README.md")}
    assert checked == made
