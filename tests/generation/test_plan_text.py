"""Plans by rules, and which sentences can be part of an answer."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.generation.plan_text import gist_of, missing_references, quoted_name
from discorag.generation.selection import Role
from discorag.ingest.segment.reading import quote
from discorag.ingest.segment.sentence_table import Sentence
from discorag.models.protocol import Encoder
from discorag.schema.discourse import ChunkRelation, Edge, Plan, Reference, RhetoricalGraph
from discorag.schema.document import UnitKind as K
from discorag.schema.values import Span
from discorag.text.citations import format_reference, references, steps, with_citation, without_references
from tests.inputs import inputs_from, load_inputs, selector_of, with_graph, with_plan

FLU = "Does vitamin D prevent flu?"
QUESTIONS = {
    "vitamin-d": FLU,
    "tides": "Why are some tides higher than others?",
    "school-start": "Do later school start times improve sleep, attendance and grades?",
    "zh": "喝绿茶对身体有什么好处？",
}


def test_steps_are_the_sentences_with_what_they_cite() -> None:
    plan = Plan(paragraph="Open with [2]. Set [1.3-4] against [10.1].")
    assert [s.references for s in steps(plan)] == [
        (Reference(chunk=2),),
        (Reference(chunk=1, first=3, last=4), Reference(chunk=10, first=1, last=1)),
    ]


@pytest.mark.parametrize("text", ["[0]", "[1.0]", "[1.4-2]", "[a]", "[12345]", "(3)", "[1.2.3]"])
def test_what_only_looks_like_a_reference_is_none(text: str) -> None:
    assert references(text) == ()


@given(st.text(max_size=60).filter(lambda t: "[" not in t and "]" not in t), st.integers(1, 99), st.integers(1, 99))
def test_a_citation_can_be_put_in_and_taken_out_again(sentence: str, chunk: int, unit: int) -> None:
    cited = with_citation(sentence, f"[{chunk}.{unit}]")
    assert references(cited) == (Reference(chunk=chunk, first=unit, last=unit),)
    assert "".join(without_references(cited, chunks=99).split()) == "".join(sentence.split())


@pytest.mark.parametrize("corpus", QUESTIONS)
async def test_a_plan_cites_what_was_selected_and_each_main_point_is_a_step_that_begins_its_own_way(
    encoder: Encoder, corpus: str
) -> None:
    inputs = await with_plan(await with_graph(await load_inputs(corpus, QUESTIONS[corpus], encoder), encoder), encoder)
    table, selection = await selector_of(encoder).select(inputs)
    assert inputs.plan is not None
    planned = steps(inputs.plan)
    cited = [table.index(r.chunk, r.first or 0) for step in planned for r in step.references]
    assert cited == list(selection.indices)
    assert len(planned) == sum(s.role in (Role.ANSWER, Role.ADDS) for s in selection.sentences)
    for step in planned:
        heads = [table.sentences[table.index(r.chunk, r.first or 0) or 0].plain[:20] for r in step.references]
        assert all(head.strip(" .:。") in step.text for head in heads)
    assert all(a.text[:2] != b.text[:2] for a, b in pairwise(planned))


async def test_the_other_side_of_a_disagreement_is_set_against_the_point_with_its_source(encoder: Encoder) -> None:
    texts = {"trial.md": "The pill lowers the risk.", "review.md": "The pill lowers no risk."}
    inputs = await inputs_from(texts, "Does the pill lower the risk?", encoder)
    a, b = inputs.chunks
    for relation, said in {
        ChunkRelation.CONTRADICTS: "; set against it “{}”, which contradicts it: ",
        ChunkRelation.CONTRASTS_WITH: "; compare it with “{}”, where it is different: ",
    }.items():
        graph = RhetoricalGraph(chunks=(a.id, b.id), edges=(Edge(source=a.id, target=b.id, relation=relation),))
        plan = (await with_plan(replace(inputs, graph=graph), encoder)).plan
        assert plan is not None
        assert any(said.format(title) in plan.paragraph for title in ("trial.md", "review.md"))


async def test_what_a_plan_cites_and_there_is_not_is_named(encoder: Encoder) -> None:
    inputs = await inputs_from({"a": "One. Two.", "b": "Three, as in [1999]."}, "what", encoder)
    plan = Plan(paragraph="Use [1.2], [1.2-9], [2.7] and [3]; then [99.9], [1999] and [2]. Again [3].")
    absent = missing_references(plan, inputs)
    assert {format_reference(reference): message for reference, message in absent.items()} == {
        "[1.2-9]": "The plan cites [1.2-9]; the sentences of passage 1 end at 2.",
        "[2.7]": "The plan cites [2.7]; the sentences of passage 2 end at 1.",
        "[3]": "The plan cites [3]; there are 2 passages.",
        "[99.9]": "The plan cites [99.9]; there are 2 passages.",
    }


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_title_and_no_sentence_can_cite_in_a_plan(title: str, sentence: str) -> None:
    clauses = [f"then, in {quoted_name(title)}: {gist_of(sentence, f'[1.{i}]')}" for i in range(1, 4)]
    assert [r.first for r in references("; ".join(clauses))] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "kind", "says_something"),
    [
        ("The wheel turns.", K.PROSE, True),
        ("“The wheel turns,” said Ada.", K.PROSE, True),
        ("Written by Ada Berg and Bo Lind.", K.PROSE, True),
        ("Faster on long rivets", K.ITEM, True),
        ("1   if a rivet is missing,", K.ITEM, True),
        ("Ada Berg: I think the wheel should be of cork", K.TURN, True),
        ("MILLS OF LANSE INC.", K.PROSE, False),
        ("(In thousands, but for shares and amounts of each.)", K.PROSE, False),
        ("General and Administrative Expenses.", K.PROSE, False),
        ("Ada Berg: Wheel of the mill.", K.TURN, False),
        ("Run this:", K.PROSE, False),
    ],
)
def test_whole_sentences_and_items_say_something_and_labels_do_not(text: str, kind: K, says_something: bool) -> None:
    assert Sentence(1, 1, Span(start=0, end=len(text)), text, quote(text, kind), kind).statement is says_something
