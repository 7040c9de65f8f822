from collections.abc import Sequence
from dataclasses import replace

import pytest

from discorag.generation.views import answer_markdown
from discorag.models.protocol import Encoder
from discorag.schema.answer import CHECKED, Answer, AnswerInputs, Outcome, Support
from discorag.schema.discourse import ChunkRelation, Edge, Plan, RhetoricalGraph
from discorag.schema.errors import ModelUnavailableError
from discorag.schema.statements import Quotation, Statement, StatementGraph, StatementRelation, StatementRelationKind
from discorag.schema.values import Span
from discorag.verification.claims import Claim, Judge, Verdict
from discorag.verification.tracing import ADDED, CORRECTED, QUOTED, TracingVerifier, check_draft
from tests.inputs import inputs_from, selector_of

SOURCES = {
    "trial": "Daily vitamin D lowered the incidence of influenza by 12 % in adults who were deficient.",
    "pool": "Across all trials, supplements had no significant effect on the incidence of influenza.",
}


class Says:
    """A judge that says the same of every claim, about its first place."""

    def __init__(self, support: Support) -> None:
        self.support, self.claims = support, list[Claim]()

    async def judge(self, claims: Sequence[Claim]) -> Outcome[Sequence[Verdict]]:
        self.claims += claims
        places = 1 if self.support is Support.SUPPORTED else 0
        return Outcome(value=[Verdict(self.support, c.places[:places], 0.75, "It says so.") for c in claims])


def verifier_of(encoder: Encoder, judge: Judge | None = None) -> TracingVerifier:
    return TracingVerifier(encoder, selector_of(encoder).reranker, judge)


async def verified(
    draft: str, encoder: Encoder, *, plan: str | None = None, graph: bool = False, judge: Judge | None = None
) -> Answer:
    inputs = await inputs_from(SOURCES, "Does vitamin D prevent flu?", encoder)
    ids = tuple(c.id for c in inputs.chunks)
    edge = Edge(source=ids[1], target=ids[0], relation=ChunkRelation.CONTRASTS_WITH)
    inputs = replace(
        inputs,
        plan=Plan(paragraph=plan) if plan else None,
        graph=RhetoricalGraph(chunks=ids, edges=(edge,)) if graph else None,
    )
    return (await verifier_of(encoder, judge).verify(inputs, draft)).value


QUOTE = SOURCES["trial"]
PARAPHRASE = "In deficient adults, daily vitamin D lowered the incidence of influenza by 12 % [1]."


async def test_a_verbatim_sentence_is_quoted_from_its_exact_span_and_no_judge_is_asked(encoder: Encoder) -> None:
    judge = Says(Support.NOT_SUPPORTED)
    [sentence] = (await verified(f"{QUOTE} [1]", encoder, judge=judge)).sentences
    assert (sentence.support, sentence.reason, sentence.confidence) == (Support.QUOTED, QUOTED, None)
    [evidence] = sentence.evidence
    assert SOURCES[evidence.title][evidence.span.start : evidence.span.end] == evidence.text == QUOTE
    assert judge.claims == []


async def test_every_cited_source_is_shown_also_if_all_that_is_closest_stands_in_one(encoder: Encoder) -> None:
    near = " ".join(
        f"The {n} bee dances at the hive on a warm morning." for n in ("first", "second", "third", "fourth")
    )
    inputs = await inputs_from({"bees": near, "tides": "The tide rises twice a day."}, "What do bees do?", encoder)
    draft = "A bee dances at the hive on a warm morning, while the sea comes in [1][2]."
    [sentence] = (await verifier_of(encoder).verify(inputs, draft)).value.sentences
    assert {e.title for e in sentence.evidence} == {"bees", "tides"}


async def test_without_a_judge_a_written_sentence_is_cited_and_shows_what_it_cites(encoder: Encoder) -> None:
    answer = await verified(f"{PARAPHRASE} Supplements had no effect on influenza [1][2].", encoder)
    assert [(s.support, s.reason, s.confidence) for s in answer.sentences] == [(Support.CITED, "", None)] * 2
    assert [[e.title for e in s.evidence] for s in answer.sentences] == [["trial"], ["trial", "pool"]]
    assert (answer.problems, answer.checked) == ((), CHECKED)


@pytest.mark.parametrize("support", [Support.SUPPORTED, Support.NOT_SUPPORTED])
async def test_a_judge_decides_a_written_sentence(support: Support, encoder: Encoder) -> None:
    [sentence] = (await verified(PARAPHRASE, encoder, judge=Says(support))).sentences
    assert (sentence.support, sentence.confidence, sentence.reason) == (support, 0.75, "It says so.")
    assert [e.text for e in sentence.evidence] == [QUOTE]


async def test_a_missing_detail_is_to_be_checked_and_no_judge_is_asked(encoder: Encoder) -> None:
    draft = "Daily vitamin D lowered the incidence of influenza by 15 % in adults who were deficient [1]."
    judge = Says(Support.SUPPORTED)
    [sentence] = (await verified(draft, encoder, judge=judge)).sentences
    assert (sentence.support, sentence.reason, judge.claims) == (
        Support.CHECK,
        "In none of its sources: the number 15 %.",
        [],
    )
    assert [e.text for e in sentence.evidence] == [QUOTE]


def _statement(text: str, passage: int, chunk_id: str) -> StatementGraph:
    quotation = Quotation(passage=passage, chunk_id=chunk_id, text=text, spans=(Span(start=0, end=len(text)),))
    return StatementGraph(statements=(Statement(number=1, says=text, quotations=(quotation,)),))


def _graph(inputs: AnswerInputs, *quoted: tuple[str, int]) -> StatementGraph:
    """A statement for each quotation and its passage."""
    statements = (_statement(text, n, inputs.chunks[n - 1].id).statements[0] for text, n in quoted)
    return StatementGraph(
        statements=tuple(s.model_copy(update={"number": n}) for n, s in enumerate(statements, start=1))
    )


async def test_a_value_of_another_passage_adds_its_citation_if_a_quotation_has_it_with_the_subject(
    encoder: Encoder,
) -> None:
    texts = {
        "a": "Mara Lind wrote the Almanac of tides.",
        "b": "The Almanac by Mara Lind came out in 1893. It sold well.",
    }
    inputs = await inputs_from(texts, "When did it come out?", encoder)
    draft = "Mara Lind's Almanac of tides came out in 1893 [1]. Jon Berg's Almanac came out in 1893 [1]. "
    draft += "The Almanac was banned in 1893 [1]."
    statements = _graph(inputs, (texts["a"], 1), ("The Almanac by Mara Lind came out in 1893", 2))
    plain = await verifier_of(encoder).verify(inputs, draft)
    assert [s.support for s in plain.value.sentences] == [Support.CHECK] * 3
    assert plain.counts == {}
    found = await verifier_of(encoder).verify(replace(inputs, statements=statements), draft)
    lind, berg, ban = found.value.sentences
    assert (lind.support, lind.evidence[-1].text, found.counts) == (
        Support.CITED,
        "The Almanac by Mara Lind came out in 1893",
        {ADDED: 1},
    )
    assert "was added" in lind.reason
    assert (berg.support, ban.support) == (Support.CHECK, Support.CHECK)


TIDES = {
    "a": "The moon pulls the sea toward it, so that harbours fill twice a day.",
    "b": "In 1893 the mill of Harlow closed. It had 412 looms since 1862. In 1871 the ferry cost 96 pounds.",
    "c": "Bees dance on the comb to show the way to flowers.",
}


async def _checked(draft: str, encoder: Encoder, *quoted: tuple[str, int]) -> Outcome[Answer]:
    """The outcome of a draft over `TIDES`, with a statement for each quotation and its passage."""
    inputs = await inputs_from(TIDES, "What is said?", encoder)
    return await verifier_of(encoder).verify(replace(inputs, statements=_graph(inputs, *quoted)), draft)


BEES = ("Bees dance on the comb to show the way to flowers.", 3)


async def test_a_sentence_keeps_where_it_cites_and_its_evidence_has_that_order(encoder: Encoder) -> None:
    draft = "Bees dance for flowers [3], and the moon pulls the sea [1]."
    [sentence] = (await _checked(draft, encoder, (TIDES["a"], 1), BEES)).value.sentences
    chunks = [e.chunk_id for e in sentence.evidence]
    assert [(sentence.text[: c.at], chunks.index(c.chunk_id)) for c in sentence.citations] == [
        ("Bees dance for flowers", 0),
        ("Bees dance for flowers, and the moon pulls the sea", 1),
    ]


@pytest.mark.parametrize(
    ("quoted", "lead"),
    [
        ("Members of this group may veto.", "The Council has five permanent seats."),
        ("seats have been the same since 1945", "Their"),
        ("The Council has five permanent seats.", ""),
        ("Five others change.", ""),
    ],
)
async def test_a_quotation_is_read_with_what_it_points_back_to(quoted: str, lead: str, encoder: Encoder) -> None:
    text = "The Council has five permanent seats. Members of this group may veto. Five others change. "
    text += "Their seats have been the same since 1945."
    inputs = await inputs_from({"a": text}, "Who may veto?", encoder)
    start = text.index(quoted)
    quotation = Quotation(
        passage=1, chunk_id=inputs.chunks[0].id, text=quoted, spans=(Span(start=start, end=start + len(quoted)),)
    )
    graph = StatementGraph(statements=(Statement(number=1, says=quoted, quotations=(quotation,)),))
    draft = f"Note: {' and '.join(quoted.rstrip('.').split())} [1]."
    [sentence] = check_draft(replace(inputs, statements=graph), draft).value.sentences
    assert [e.text for e in sentence.evidence if not e.is_context] == [quoted]
    assert "".join(e.text for e in sentence.evidence if e.is_context).endswith(lead)
    assert any(e.is_context for e in sentence.evidence) == bool(lead)
    answer = Answer(query="?", sentences=(sentence,))
    assert ("(after “" in "".join(answer_markdown(answer))) == bool(lead)


async def test_a_wrong_passage_number_is_corrected_if_the_quotation_has_value_and_subject(encoder: Encoder) -> None:
    draft = "The sea is pulled by the moon, so that harbours fill twice a day [3]."
    found = await _checked(draft, encoder, (TIDES["a"], 1), BEES)
    [sentence] = found.value.sentences
    assert (sentence.support, [e.text for e in sentence.evidence]) == (Support.CITED, [TIDES["a"]])
    assert (sentence.statements, found.counts) == ((1,), {CORRECTED: 1})
    assert "was corrected" in sentence.reason


async def test_a_wrong_passage_number_is_to_be_checked_if_the_quotation_lacks_a_name(encoder: Encoder) -> None:
    draft = "For Mara Lind the sea is pulled by the moon, so that harbours fill twice a day [3]."
    inputs = TIDES | {"c": f"{TIDES['c']} Mara Lind says so."}
    texts = await inputs_from(inputs, "What is said?", encoder)
    graph = _statement(TIDES["a"], 1, texts.chunks[0].id)
    [sentence] = (await verifier_of(encoder).verify(replace(texts, statements=graph), draft)).value.sentences
    assert (sentence.support, TIDES["a"] in sentence.reason) == (Support.CHECK, True)


async def test_a_cited_passage_that_says_it_too_stays(encoder: Encoder) -> None:
    draft = "Bees dance on the comb to show the way to flowers and more [3]."
    found = await _checked(draft, encoder, ("Bees dance", 1))
    assert (found.value.sentences[0].support, found.counts) == (Support.CITED, {})


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        ("The mill of Harlow closed in 1871 [2].", "The words that it rests on have 1893, not 1871."),
        ("The mill of Harlow closed in 1893 [2].", ""),
        ("The mill of Harlow, with 412 looms since 1862, closed [2].", ""),
    ],
)
async def test_a_figure_of_something_else_in_the_cited_passage_is_doubtful(
    draft: str, reason: str, encoder: Encoder
) -> None:
    found = await _checked(draft, encoder, ("In 1893 the mill of Harlow closed.", 2), BEES)
    [sentence] = found.value.sentences
    assert (sentence.support, sentence.reason) == (Support.CHECK if reason else Support.CITED, reason)


async def test_without_models_the_statements_give_evidence_steps_and_disagreements(encoder: Encoder) -> None:
    inputs = await inputs_from(SOURCES, "Does vitamin D prevent flu?", encoder)
    texts = [*SOURCES.values()]
    statements = [
        *_statement(texts[0], 1, inputs.chunks[0].id).statements,
        _statement(texts[1], 2, inputs.chunks[1].id).statements[0].model_copy(update={"number": 2}),
    ]
    relation = StatementRelation(source=2, relation=StatementRelationKind.CONTRADICTS, target=1)
    graph = StatementGraph(statements=tuple(statements), relations=(relation,))
    plan = Plan(paragraph="1. answers: It is lowered {1}\n2. opposes: It is not {2}")
    answer = check_draft(replace(inputs, statements=graph, plan=plan), f"{PARAPHRASE} {texts[1]} [2]").value
    assert [(s.support, s.step, s.statements) for s in answer.sentences] == [
        (Support.CITED, 0, (1,)),
        (Support.CITED, 1, (2,)),
    ]
    assert [[e.text for e in s.evidence] for s in answer.sentences] == [[text] for text in texts]
    assert [d.statements for d in answer.disagreements] == [(1, 2)]


async def test_without_models_an_added_citation_is_evidence_too(encoder: Encoder) -> None:
    texts = {"a": "Mara Lind wrote the Almanac of tides.", "b": "The Almanac by Mara Lind came out in 1893."}
    inputs = await inputs_from(texts, "When did it come out?", encoder)
    statements = _graph(inputs, (texts["a"], 1), (texts["b"], 2))
    found = check_draft(replace(inputs, statements=statements), "Mara Lind's Almanac of tides came out in 1893 [1].")
    [sentence] = found.value.sentences
    assert (sentence.support, [e.text for e in sentence.evidence]) == (Support.CITED, [*texts.values()])
    assert found.counts == {ADDED: 1}
    assert "was added" in sentence.reason


async def test_what_a_passage_is_labelled_with_is_in_it(encoder: Encoder) -> None:
    inputs = await inputs_from({"a": "We save the disks.", "b": "We sell the disks."}, "What about the disks?", encoder)
    labels = {
        "headings": ("Welsh Government",),
        "columns": "PhD F",
        "metadata": {"Author": "Mara Lind", "year": "1893"},
    }
    inputs = replace(inputs, chunks=(inputs.chunks[0].model_copy(update=labels), inputs.chunks[1]))
    draft = "For the Welsh Government, PhD F saves the disks, as Mara Lind wrote in 1893 [{}]."
    for cited, support in ((1, Support.CITED), (2, Support.CHECK)):
        [sentence] = (await verifier_of(encoder).verify(inputs, draft.format(cited))).value.sentences
        assert sentence.support is support


async def test_two_lines_of_one_sentence_are_quoted_together(encoder: Encoder) -> None:
    inputs = await inputs_from({"a": "The moon, which pulls the sea,\n\nis round and grey."}, "tides", encoder)
    [sentence] = (
        await verifier_of(encoder).verify(inputs, "The moon, which pulls the sea, is round and grey. [1]")
    ).value.sentences
    assert sentence.support is Support.QUOTED


@pytest.mark.parametrize(
    "draft", ["No.", "It did.", "Never.", "That is so.", "They never do.", "This is true.", "Yes!"]
)
async def test_a_sentence_without_content_is_not_judged(draft: str, encoder: Encoder) -> None:
    judge = Says(Support.SUPPORTED)
    [sentence] = (await verified(draft, encoder, judge=judge)).sentences
    assert (sentence.support, judge.claims) == (Support.CITED, [])


async def test_a_reranker_that_fails_leaves_the_order_of_cosine(encoder: Encoder) -> None:
    class Fails:
        version = "fails"

        async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
            raise ModelUnavailableError("down")

    inputs = await inputs_from(SOURCES, "Does vitamin D prevent flu?", encoder)
    [sentence] = (await TracingVerifier(encoder, Fails()).verify(inputs, PARAPHRASE)).value.sentences
    assert [e.text for e in sentence.evidence] == [QUOTE]


async def test_a_wrong_citation_is_corrected(encoder: Encoder) -> None:
    answer = await verified(f"{QUOTE} [2].", encoder)
    assert [e.title for e in answer.sentences[0].evidence] == ["trial"]


async def test_sentences_are_matched_to_the_steps_that_they_carry_out(encoder: Encoder) -> None:
    draft = (
        "Supplements had no significant effect on the incidence of influenza [2]. "
        "Daily vitamin D lowered the incidence of influenza by 12 % [1]. Nothing else is known."
    )
    answer = await verified(draft, encoder, plan="Open with [1]. Then set [2] against it.")
    assert [s.step for s in answer.sentences] == [1, 0, None]


async def test_a_disagreement_is_located_in_both_sources_if_the_answer_uses_both(encoder: Encoder) -> None:
    draft = "Daily vitamin D lowered the incidence of influenza by 12 % [1]. Supplements had no significant effect [2]."
    answer = await verified(draft, encoder, graph=True)
    assert [(d.relation, d.a.text, d.b.text) for d in answer.disagreements] == [
        (ChunkRelation.CONTRASTS_WITH, SOURCES["trial"], SOURCES["pool"])
    ]
    answer = await verified("Daily vitamin D lowered the incidence of influenza by 12 % [1].", encoder, graph=True)
    assert answer.disagreements == ()


@pytest.mark.parametrize("draft", ["", "  \n ", "[1] [2]."])
async def test_an_empty_draft_is_an_answer_without_sentences(draft: str, encoder: Encoder) -> None:
    assert (await verified(draft, encoder)).sentences == ()


async def test_a_disagreement_stated_in_both_directions_is_reported_once(encoder: Encoder) -> None:
    inputs = await inputs_from(SOURCES, "Does vitamin D prevent flu?", encoder)
    a, b = (c.id for c in inputs.chunks)
    edges = (
        Edge(source=a, target=b, relation=ChunkRelation.CONTRADICTS),
        Edge(source=b, target=a, relation=ChunkRelation.CONTRADICTS),
    )
    inputs = replace(inputs, graph=RhetoricalGraph(chunks=(a, b), edges=edges))
    draft = "Daily vitamin D lowered the incidence of influenza by 12 % [1]. Supplements had no significant effect [2]."
    assert len((await verifier_of(encoder).verify(inputs, draft)).value.disagreements) == 1


async def test_a_heading_is_no_supported_sentence_but_a_statement_or_an_item_that_is_also_a_title_is(
    encoder: Encoder,
) -> None:
    text = "# Tides and the moon above\n\nThe moon pulls the sea. Tides follow.\n\n* README"
    text += "\n\nxtide\nTIDE TABLES\n\nxtide draws tide tables."
    inputs = await inputs_from({"The moon pulls the sea.": text, "README": "Read this first."}, "tides", encoder)
    draft = "# Tides and the moon above\n\nTides and the moon above [1]\n\nThe moon pulls the sea [1].\n\nREADME [1]"
    draft += "\n\nxtide draws tide tables [1]."
    answer = (await verifier_of(encoder).verify(inputs, draft)).value
    assert [s.supported for s in answer.sentences] == [False, False, True, True, True]
