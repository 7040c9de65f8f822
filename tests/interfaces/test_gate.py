"""The audit of a repository: what is settled in a file, what changed since a commit, the hook and the Action."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
import yaml

from discorag.ingest.loaders import SUFFIXES
from interfaces.settled import NAME
from tests.conftest import EXAMPLES
from tests.interfaces.test_cli import run

ROOT = EXAMPLES.parent
POLICY = """---
title: Refund policy
---

The shop of Anna Berg is in Bergen.

Customers may return a product within 30 days of
delivery.
"""
LEAFLET = "# Shop leaflet\n\nCustomers may return a product within 14 days of delivery.\n"
OTHER = "# Opening hours\n\nThe shop opens at nine.\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with three committed documents, of which two disagree."""
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, text in (("policy", POLICY), ("leaflet", LEAFLET), ("other", OTHER)):
        (folder / f"{name}.md").write_text(text, "utf-8")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    own = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(("git", "-C", folder, *own, *arguments), check=True, capture_output=True, text=True).stdout


def commit(folder: Path) -> str:
    git(folder, "add", "shop")
    git(folder, "commit", "--quiet", "--message", "change")
    return git(folder, "rev-parse", "HEAD").strip()


def audit(folder: Path, *arguments: str, ok: int) -> str:
    return run(folder, "audit", "shop", *arguments, ok=ok)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_a_settled_finding_stays_after_other_edits_and_comes_back_after_its_own(repository: Path) -> None:
    [name] = re.findall(r"\(sure\) ([0-9a-f]{8}):", audit(repository, ok=1))
    assert "1 settled" in audit(repository, "--settle", name, "--note", 'The leaflet is "old".', ok=0)
    assert 'The leaflet is \\"old\\".' in (repository / "shop" / NAME).read_text("utf-8")
    policy = repository / "shop" / "policy.md"
    edit(policy, "The shop of Anna Berg is in Bergen.", "The shop moved.\n\nIt was in Oslo.\n")
    edit(policy, "days of\ndelivery", "days\nof delivery")
    assert "1 settled" in audit(repository, ok=0)
    edit(policy, "30 days", "60 days")
    told = audit(repository, ok=1)
    assert "says 60 days" in told
    assert "1 finding settled" in told


def test_a_clone_in_another_place_knows_what_is_settled(repository: Path, tmp_path: Path) -> None:
    audit(repository, "--baseline", ok=0)
    commit(repository)
    git(tmp_path, "clone", "--quiet", str(repository), "clone")
    assert "1 settled" in audit(tmp_path / "clone", ok=0)


def test_the_baseline_settles_all_and_forgets_what_is_gone(repository: Path) -> None:
    audit(repository, "--baseline", ok=0)
    edit(repository / "shop" / "leaflet.md", "14 days", "7 days")
    audit(repository, ok=1)
    audit(repository, "--baseline", "--note", "today", ok=0)
    file = (repository / "shop" / NAME).read_text("utf-8")
    assert file.count("[[settled]]") == 1
    assert "7 days" in file


@pytest.mark.parametrize("content", ["settled = 3", "[[settled]]\nnote = 1", "no toml"])
def test_a_file_that_holds_something_else_is_an_error(repository: Path, content: str) -> None:
    (repository / "shop" / NAME).write_text(content, "utf-8")
    assert "cannot be read" in audit(repository, ok=2)


@pytest.mark.parametrize(
    "wrong", [("--settle", "00000000"), ("--changed-since", "nothing"), ("--changed-since=--all",), ("--out", "a.doc")]
)
def test_what_cannot_be_done_is_an_error(repository: Path, wrong: tuple[str, ...]) -> None:
    assert "InputError" in audit(repository, *wrong, ok=2)


def test_only_what_touches_changed_files_is_reported(repository: Path) -> None:
    assert "0 contradictions" in audit(repository, "--changed-since", "HEAD", ok=0)
    edit(repository / "shop" / "other.md", "nine", "ten")
    assert "0 contradictions" in audit(repository, "--changed-since", "HEAD", ok=0)
    edit(repository / "shop" / "policy.md", "Bergen", "Oslo")
    assert "1 contradiction" in audit(repository, "--changed-since", "HEAD", ok=1)
    commit(repository)
    assert "0 contradictions" in audit(repository, "--changed-since", "HEAD", ok=0)
    assert "1 contradiction" in audit(repository, "--changed-since", "HEAD~1", ok=1)
    (repository / "shop" / "new.md").write_text(LEAFLET.replace("14 days", "7 days"), "utf-8")
    assert "says 7 days" in audit(repository, "--changed-since", "HEAD", ok=1)


def test_reports_name_files_lines_and_both_sentences(repository: Path) -> None:
    outs = [part for suffix in ("sarif", "xml", "md", "html", "json") for part in ("--out", f"a.{suffix}")]
    audit(repository, *outs, ok=1)
    [result] = json.loads((repository / "a.sarif").read_text("utf-8"))["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "shop/policy.md", "uriBaseId": "%SRCROOT%"}
    lines = {"startLine": 7, "startColumn": 1, "endLine": 8, "endColumn": 10}
    assert lines.items() <= place["region"].items()
    assert result["level"] == "error"
    tests = {t.attrib["name"]: t.find("failure") for t in Xml.parse(repository / "a.xml").iter("testcase")}
    assert {name for name, failure in tests.items() if failure is not None} == {"shop/policy.md", "shop/leaflet.md"}
    assert tests["shop/other.md"] is None
    comment = (repository / "a.md").read_text("utf-8")
    assert "`shop/leaflet.md:3`: Customers may return a product within 14 days of delivery." in comment


def programs(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a hook or a workflow, in which ``disco-rag`` is installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DISCO_RAG_", "GIT_"))}
    path = f"{folder}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return kept | {"PATH": path, "PYTHONPATH": str(ROOT), "DISCO_RAG_HOME": str(folder / "home")} | more


def test_the_hook_compares_the_files_of_a_commit_with_the_others(repository: Path) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert {suffix for suffix in SUFFIXES if re.search(hook["files"], f"docs/a{suffix}")} == set(SUFFIXES)
    assert not re.search(hook["files"], "a.py")

    def commits(*files: str) -> int:
        command = (*hook["entry"].split(), *hook["args"], *files)
        return subprocess.run(command, cwd=repository, env=programs(repository), check=False).returncode

    assert commits("shop/other.md") == 0
    assert commits("shop/other.md", "shop/leaflet.md") == 1


def test_the_action_reports_and_fails_in_a_repository(repository: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    schema = ("check-jsonschema", "--builtin-schema", "vendor.github-actions", str(ROOT / "action.yml"))
    assert subprocess.run(schema, env=programs(repository), check=False).returncode == 0
    steps = {step.get("name"): step for step in action["runs"]["steps"]}
    summary, outputs, calls = (repository / name for name in ("summary", "outputs", "calls"))
    files = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(outputs), "CALLS": str(calls)}

    def step(name: str, **env: str) -> int:
        """Run a step of the Action as GitHub does; every variable that the step names is given."""
        assert set(steps[name]["env"]) <= env.keys() | {"DISCO_RAG_HOME"}
        shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[name]["run"])
        return subprocess.run(shell, cwd=repository, env=programs(repository, **files, **env), check=False).returncode

    given: dict[str, Any] = {"FOLDER": "shop", "REPORTS": "reports"}
    assert step("Audit", **given, CHANGED_SINCE="HEAD") == 0
    assert step("Audit", **given, CHANGED_SINCE="") == 1
    assert {file.name for file in (repository / "reports").iterdir()} == {"audit.sarif", "audit.xml", "audit.md"}
    assert "1 contradiction" in summary.read_text("utf-8")
    assert "reports=reports\n" in outputs.read_text("utf-8")
    gh = repository / "gh"
    gh.write_text('#!/bin/sh\necho "$@" >> "$CALLS"\ncase "$*" in *--jq*) cat known;; esac\n', "utf-8")
    gh.chmod(0o755)
    comment = {"GH_TOKEN": "t", "COMMENTS": "issues/1/comments", "COMMENT": "comments", "REPORT": "reports/audit.md"}
    for known, call in (("", "api issues/1/comments -F"), ("7\n", "api --method PATCH comments/7 -F")):
        (repository / "known").write_text(known, "utf-8")
        assert step("Comment", **comment) == 0
        assert calls.read_text("utf-8").splitlines()[-1] == f"{call} body=@reports/audit.md"
