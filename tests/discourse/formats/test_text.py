"""Trees for people."""

from __future__ import annotations

import re

from hypothesis import given

from discorag.discourse.formats.text import tree_mermaid, tree_text
from discorag.discourse.parse.rules import rule_tree
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from tests.strategies import chunks

_VERTEX = re.compile(r'    (n\d+_\d+)\["([^"]*)"\]')
_EDGE = re.compile(r"    (n\d+_\d+) -->\|[NS]\| (n\d+_\d+)")


def _chunk(text: str) -> Chunk:
    span = Span(start=0, end=len(text))
    chunk = Chunk(id="c", doc_id="d", order=3, span=span, text=text, sentences=sentence_spans(text))
    return _with_tree(chunk)


def _with_tree(chunk: Chunk) -> Chunk:
    return chunk.model_copy(update={"tree": rule_tree(chunk)})


def test_the_terminal_shows_relations_roles_and_edus():
    lines = tree_text(_chunk("Gold shines. However, iron rusts. For example, nails do.")).splitlines()
    assert [line.strip(" │├└─") for line in lines] == [
        "CONTRAST 1-3",
        "N  1: Gold shines.",
        "N  EXAMPLE 2-3",
        "N  2: However, iron rusts.",
        "S  3: For example, nails do.",
    ]


def test_markup_and_control_characters_of_a_document_do_not_reach_the_terminal():
    shown = tree_text(_chunk("[red]Gold[/red] \x1b[2Jshines\x07 \u202ereversed."))
    assert "[red]Gold[/red]" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_mermaid_names_every_constituent_and_links_it():
    assert tree_mermaid(_chunk('Gold "shines". However, iron #1 rusts.')) == (
        "flowchart TD\n"
        '    n0_2["CONTRAST 1-2"]\n'
        '    n0_1["1: Gold #34;shines#34;."]\n'
        "    n0_2 -->|N| n0_1\n"
        '    n1_2["2: However, iron #35;1 rusts."]\n'
        "    n0_2 -->|N| n1_2\n"
    )


@given(chunks())
def test_mermaid_is_well_formed_whatever_the_text(chunk: Chunk):
    head, *lines = tree_mermaid(_with_tree(chunk)).removesuffix("\n").split("\n")
    vertices = [m for line in lines if (m := _VERTEX.fullmatch(line))]
    edges = [m for line in lines if (m := _EDGE.fullmatch(line))]
    n = len(chunk.sentences)
    assert head == "flowchart TD"
    assert (len(lines), len(vertices), len(edges)) == (4 * n - 3, 2 * n - 1, 2 * n - 2)
    assert {e[2] for e in edges} == {v[1] for v in vertices} - {f"n0_{n}"}
    assert not re.search(r"[<>`|{}\[\]]", "".join(v[2] for v in vertices))
