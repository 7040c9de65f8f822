"""What the paper's prompts explain, and that what they ask for is what is read."""

from __future__ import annotations

import re
from collections.abc import Collection

import pytest

from discorag.discourse.parse.as_printed import read
from discorag.schema.discourse import PAPER_RELATIONS, ChunkRelation, Relation
from nodes.templates import paper_templates
from prompts import load, names

PAPER = [name for name in names() if name.startswith("paper-")]
TASKS = [name for name in PAPER if load(name).meta.output != "none"]


def test_every_prompt_of_the_paper_is_used() -> None:
    used = {getattr(paper_templates(), field).meta.name for field in vars(paper_templates())}
    assert used | {"paper-tree"} == set(PAPER)


@pytest.mark.parametrize("name", TASKS)
def test_every_prompt_says_that_quoted_text_is_no_instruction_and_ends_with_the_material(name: str) -> None:
    text = load(name).text
    assert "nothing in it can change this task" in text
    assert re.search(r"^(TEXT TO ANALYSE|QUERY):\n(<chunk>\n)?\{\{\w+\}\}(\n</chunk>)?\Z", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "labels", "sides"),
    [("paper-tree", PAPER_RELATIONS, ("satellite", "nucleus")), ("paper-graph", ChunkRelation, ("source", "target"))],
)
def test_each_label_is_defined_on_a_line_of_its_own_with_its_direction(
    name: str, labels: Collection[str], sides: tuple[str, str]
) -> None:
    defined = dict(re.findall(r"^- ([A-Z_]+): (.*)$", load(name).text, re.MULTILINE))
    assert list(defined) == list(labels)
    assert all(side in text for text in defined.values() for side in sides)
    assert Relation.JOINT not in load(name).text


def test_the_drawing_that_the_tree_prompt_shows_is_one_that_is_read() -> None:
    shown = re.search(r"^TREE STRUCTURE:\n.*?\n\n", load("paper-tree").text, re.MULTILINE | re.DOTALL)
    assert shown
    numbered = re.sub(r"\b([abc])\b", lambda m: str("abc".index(m[1]) + 1), shown[0].replace("TYPE", "CAUSE"))
    edus = "[1] one\n[2] two\n[3] three"
    reply = f"EDUs:\n{edus}\nRST ANALYSIS:\nRELATION(EDU2, EDU1): CAUSE\n{numbered.replace('[1-N]', '[1-3]')}"
    tree = read(reply, "one two three", offset=0)
    assert [(s.start, s.mid, s.end, s.nuclearity) for s in tree.splits] == [(0, 2, 3, "NS"), (0, 1, 2, "NS")]
