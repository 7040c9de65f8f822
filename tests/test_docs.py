"""What the documentation says exists: files, headings, commands, targets of make."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from typer.core import TyperGroup

from interfaces.cli import main as cli

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("bench/*/README.md")]
)
_FENCE = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _anchors(page: Path) -> set[str]:
    prose = _FENCE.sub("", page.read_text("utf-8"))
    heads = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in _LINK.findall(_FENCE.sub("", page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


def _shown(page: Path) -> list[list[str]]:
    """The commands in the page's shell blocks, as their words."""
    blocks = [body for kind, body in _FENCE.findall(page.read_text("utf-8")) if kind in ("sh", "bash")]
    lines = [line for body in blocks for line in body.replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True) for line in lines if re.match(r"(?:disco-rag|make) ", line)]


@pytest.mark.parametrize("page", [p for p in PAGES if _shown(p)], ids=_name)
def test_every_command_that_is_shown_is_one(page: Path) -> None:
    group = typer.main.get_command(cli.app)
    for program, *words in _shown(page):
        words = words[: next((i for i, w in enumerate(words) if w in ("|", ">", ">>", "&&")), len(words))]
        if program == "make":
            assert {w for w in words if "=" not in w} <= TARGETS, words
        else:
            _parse(group, words)


def test_every_suite_that_is_shown_exists() -> None:
    shown = [re.findall(r"^python -m eval run((?: [a-z][\w-]*)+)", p.read_text("utf-8"), re.MULTILINE) for p in PAGES]
    suites = {name for found in shown for names in found for name in names.split()}
    assert {"loong", "asqa", "scinews"} <= suites
    assert suites <= {file.stem for file in (ROOT / "eval" / "suites").glob("*.yaml")}


def _parse(command: Any, words: list[str]) -> None:
    """Raises typer's ``UsageError`` for an unknown command or option."""
    context = command.context_class(command, info_name="disco-rag")
    while isinstance(command, TyperGroup):
        _, command, words = command.resolve_command(context, words)
        assert command
        context = command.context_class(command, parent=context)
    command.make_parser(context).parse_args(list(words))


def test_the_site_has_every_page() -> None:
    told = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    named = set(re.findall(r"[\w/-]+\.md", str(told)))
    assert named == {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
