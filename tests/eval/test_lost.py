"""One document of two sentences of 30 characters with a blank line between them, cut into two chunks."""

from collections.abc import Sequence
from typing import Any

import pytest

from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from eval.metrics.grounding import reached
from eval.running.corpus import Corpus
from eval.running.lost import cited, trace
from eval.sample import DocSpan, Gold, Sample

CORPUS = Corpus(name="c", stored={"doc": "stored", "other": "stored2"}, known={"stored": "doc", "stored2": "other"})


def at(start: int, end: int, doc: str = "doc") -> DocSpan:
    return DocSpan(doc=doc, span=Span(start=start, end=end))


def gold(start: int, end: int, doc: str = "doc") -> Gold:
    return Gold(label=f"{start}-{end}", anywhere=(at(start, end, doc),))


def chunk(start: int, *cuts: int, tree: bool = False) -> Chunk:
    """A chunk of sentences ``start`` to the first cut, to the second, and so on; with ``tree`` the two are its EDUs."""
    units = tuple(Span(start=a, end=b) for a, b in zip((start, *cuts), cuts, strict=False))
    span = Span(start=start, end=cuts[-1])
    split = Split(start=0, mid=1, end=2, relation=Relation.ELABORATION, nuclearity=Nuclearity.NS)
    made = RstTree(edus=units, splits=(split,)) if tree else None
    sentences = (span,) if tree else units
    return Chunk(
        id=f"id{start}",
        doc_id="stored",
        order=0,
        span=span,
        text="x" * (cuts[-1] - start),
        sentences=sentences,
        tree=made,
    )


FIRST, SECOND = chunk(0, 30, 60), chunk(62, 92, 122)
GOLD = gold(0, 30)


def stage(
    wanted: Gold = GOLD,
    *,
    chunks: Sequence[Chunk] = (FIRST, SECOND),
    plan: str | None = "Use [1].",
    draft: str = "It is so [1].",
    used: tuple[DocSpan, ...] = (),
) -> str:
    sample = Sample(id="q", query="?", gold=(wanted,))
    lost = trace(sample, corpus=CORPUS, chunks=chunks, plan=plan, draft=draft, used=used)
    return lost[0].stage if lost else "found"


ELSEWHERE = Gold(label="g", anywhere=(at(0, 30, "elsewhere"), at(0, 30)))


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        ({"wanted": gold(0, 30, "elsewhere")}, "missing"),
        ({"wanted": ELSEWHERE}, "verify"),  # one of its places is ingested
        ({"chunks": (SECOND,)}, "retrieve"),
        ({"wanted": gold(0, 30, "other")}, "retrieve"),
        ({"plan": "Use [2].", "draft": "It is so [2]."}, "plan"),
        ({"plan": "Cites nothing.", "draft": ""}, "plan"),
        ({"plan": "Use [1.2].", "draft": ""}, "plan"),  # another unit of the right chunk
        ({"plan": "Use [1.1-2].", "draft": ""}, "generate"),
        ({"draft": "It is so [2]."}, "generate"),
        ({"plan": None, "draft": "It is so [2]."}, "generate"),  # without a plan all that was retrieved is planned
        ({"used": (at(62, 92),)}, "verify"),
        ({"plan": "Use [2].", "draft": "It is so [1]."}, "verify"),  # the draft went beyond the plan
        ({"used": (at(0, 30),)}, "found"),
        ({"wanted": gold(62, 92), "plan": "Use [1].", "draft": "", "used": (at(60, 95),)}, "found"),
    ],
)
def test_the_first_stage_that_let_go_of_the_evidence_has_lost_it(changes: dict[str, Any], lost: str) -> None:
    assert stage(**changes) == lost


def test_each_lost_piece_is_listed_with_its_own_stage() -> None:
    sample = Sample(id="q", query="?", gold=(gold(0, 30), gold(30, 60), gold(62, 92)))
    lost = trace(sample, corpus=CORPUS, chunks=(FIRST, SECOND), plan="[1.1] [2]", draft="[1.1]", used=(at(0, 30),))
    assert [(piece.label, piece.stage) for piece in lost] == [("30-60", "plan"), ("62-92", "generate")]


# --- citations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("[2]", [at(62, 122)]),
        ("[2.1]", [at(62, 92)]),
        ("[2.2]", [at(92, 122)]),
        ("[1.1-2]", [at(0, 60)]),
        ("[2.2-9]", [at(92, 122)]),  # a range is cut at the last unit
        ("[2.3]", []),
        ("[3]", []),
        ("[0] [2.0] [2.2-1]", []),
        ("[2] after [1.2]", [at(62, 122), at(30, 60)]),
        (r"\[1] is quoted", []),
    ],
)
def test_citations_are_resolved_to_places(text: str, places: list[DocSpan]) -> None:
    assert cited(text, (FIRST, SECOND), CORPUS) == tuple(places)


def test_the_units_are_sentences_also_with_a_tree_of_clauses() -> None:
    with_tree = chunk(0, 12, 60, tree=True)
    assert with_tree.tree is not None
    assert len(with_tree.tree.edus) == 2
    assert cited("[1.1]", (with_tree,), CORPUS) == (at(0, 60),)


def test_two_places_that_share_too_little_each_do_not_add_up() -> None:
    assert not reached(gold(50, 100), (at(40, 60), at(90, 110)))
