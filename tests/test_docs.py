"""What the documentation says exists and happens: links, commands, graphs, names, promises, examples."""

import ast
import doctest
import importlib
import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc
from itertools import pairwise, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer.main
import yaml
from typer.core import TyperGroup

from discorag import options as presets
from graphs import answer, ingest
from interfaces.cli import main as cli
from tests import settings_page
from tests.conftest import Pipelines

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


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_no_row_of_a_table_is_cut_off_from_its_head(page: Path) -> None:
    assert re.findall(r"\n\n(\|.*)\n(?!\| -)", _FENCE.sub("", page.read_text("utf-8"))) == []


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


@pytest.mark.parametrize(("command", "folder"), [("run", "suites"), ("experiment", "experiments")])
def test_every_suite_and_experiment_that_is_shown_exists(command: str, folder: str) -> None:
    pattern = rf"^python -m eval {command}((?: [a-z][\w-]*)+)"
    shown = [re.findall(pattern, p.read_text("utf-8"), re.MULTILINE) for p in PAGES]
    names = {name for found in shown for words in found for name in words.split()}
    assert len(names) > 2
    assert names <= {file.stem for file in (ROOT / "eval" / folder).glob("*.yaml")}


def _parse(command: Any, words: list[str]) -> None:
    """Raises typer's ``UsageError`` for an unknown command or option."""
    context = command.context_class(command, info_name="disco-rag")
    while isinstance(command, TyperGroup):
        _, command, words = command.resolve_command(context, words)
        assert command
        context = command.context_class(command, parent=context)
    command.make_parser(context).parse_args(list(words))


def test_the_site_has_every_page() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    named = set(re.findall(r"[\w/-]+\.md", str(nav)))
    assert named == {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}


def test_the_settings_page_has_every_setting() -> None:
    assert settings_page.FILE.read_text("utf-8") == settings_page.page(), "python -m tests.settings_page writes it"


GRAPHS_PAGE = ROOT / "docs" / "graphs.md"
GRAPHS: dict[str, Any] = {"answer": answer.graph, "ingest": ingest.graph}


def drawn(graph: Any) -> str:
    """The flowchart without its front matter and colours."""
    lines = graph.get_graph().draw_mermaid().splitlines()
    kept = [line.strip() for line in lines[lines.index("graph TD;") :] if "classDef" not in line]
    return "\n".join(kept).strip()


@pytest.mark.parametrize("name", GRAPHS)
def test_the_page_draws_what_the_code_prints(name: str) -> None:
    blocks = dict(re.findall(r"## (\w+)\n.*?```mermaid\n(.*?)```", GRAPHS_PAGE.read_text(encoding="utf-8"), re.DOTALL))
    shown = "\n".join(line.strip() for line in blocks[name].splitlines())
    assert shown == drawn(GRAPHS[name])


README = (ROOT / "README.md").read_text(encoding="utf-8")


def edges_drawn(flowchart: str) -> set[tuple[str, str]]:
    """The edges of a Mermaid flowchart, of which a line is a chain of arrows; ``&`` joins several nodes."""
    found: set[tuple[str, str]] = set()
    for line in flowchart.splitlines()[1:]:
        steps = [re.findall(r"(\w+)(?:\(.*?\))?", step) for step in re.split(r"-->|-\.->|-\. [^.]+ \.->", line)]
        found |= {edge for pair in pairwise(steps) for edge in product(*pair)}
    return found


def test_the_readme_draws_the_answer_graph() -> None:
    (flowchart,) = re.findall(r"```mermaid\n(.*?)```", README, re.DOTALL)
    ends = {"__start__": "question", "__end__": "answer"}
    edges = answer.graph.get_graph().edges
    assert edges_drawn(flowchart) == {(ends.get(e.source, e.source), ends.get(e.target, e.target)) for e in edges}


def test_the_readme_names_the_preset_and_the_nodes_of_each_paper() -> None:
    rows = re.findall(r"^\| \[.*?\]\(https.*?\) \| `(\w+)` \| (.*?) \|", README, re.MULTILINE)
    assert {preset for preset, _ in rows} == presets.PAPERS
    assert {name for _, nodes in rows for name in re.findall(r"`(\w+)`", nodes)} < answer.graph.nodes.keys()


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


TRIAL = "Vitamin D lowered the risk of influenza by 12 % in schoolchildren."
REVIEW = "Vitamin D did not lower the risk of influenza."
PUBLIC = [*sorted((ROOT / "discorag").rglob("*.py")), ROOT / "interfaces/facade.py", ROOT / "interfaces/langchain.py"]
"""Where the public classes are."""


def _examples() -> Iterator[Any]:
    """The section ``Example:`` of each public class that has one, and its file."""
    for file in PUBLIC:
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                _, _, example = f"\n{cleandoc(ast.get_docstring(node) or '')}\n".partition("\nExample:\n")
                if example:
                    yield pytest.param(example, str(file), id=f"{file.stem}.{node.name}")


@pytest.mark.parametrize(("example", "file"), _examples())
def test_the_example_prints_what_it_says(example: str, file: str, pipeline: Pipelines, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in {"trial.md": TRIAL, "review.md": REVIEW}.items():
        (notes / name).write_text(text, "utf-8")
    names = {"notes": notes, "rag": pipeline()}
    parsed = doctest.DocTestParser().get_doctest(example, names, "example", file, 0)
    printed: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(parsed, out=printed.append)
    assert tried
    assert not failed, "".join(printed)


_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_test_that_stands_behind_a_promise_exists() -> None:
    promises = [line for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines() if "::" in line]
    named = [_TEST.search(line) for line in promises]
    assert len(promises) > 10
    assert all(named), "a promise without a test"
    assert [found.group() for found in named if found and found.group(2) not in defined_in(found.group(1))] == []


def defined_in(file: str) -> set[str]:
    path = ROOT / file
    if not path.exists():
        return set()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)}


def test_langgraph_json_describes_graphs_that_exist_and_hold_no_checkpointer() -> None:
    reading = SimpleNamespace(execution_runtime=None)  # what the server hands over when it draws a graph
    for name, graph in json.loads((ROOT / "langgraph.json").read_text())["graphs"].items():
        assert graph["description"]
        module, _, attribute = graph["path"].partition(":")
        made = getattr(importlib.import_module(module), attribute)(reading)
        assert (made.name, made.checkpointer) == (name, None)
