from collections.abc import Sequence
from dataclasses import replace

import pytest

from discorag.models.protocol import Encoder
from discorag.schema.answer import Answer, Outcome, Support
from discorag.schema.discourse import ChunkRelation, Edge, Plan, RhetoricalGraph
from discorag.schema.errors import ModelUnavailableError
from discorag.verification.claims import Claim, Judge, Verdict
from discorag.verification.tracing import NO_JUDGE, QUOTED, TracingVerifier
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
        place = 0 if self.support is Support.SUPPORTED else None
        return Outcome(value=[Verdict(self.support, place, 0.75, "It says so.") for _ in claims])


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


async def test_a_verbatim_sentence_is_supported_by_its_exact_span_and_no_judge_is_asked(encoder: Encoder) -> None:
    judge = Says(Support.NOT_SUPPORTED)
    [sentence] = (await verified(f"{QUOTE} [1]", encoder, judge=judge)).sentences
    assert (sentence.support, sentence.reason, sentence.confidence) == (Support.SUPPORTED, QUOTED, None)
    [evidence] = sentence.evidence
    assert SOURCES[evidence.title][evidence.span.start : evidence.span.end] == evidence.text == QUOTE
    assert judge.claims == []


async def test_without_a_judge_a_written_sentence_is_not_verified_and_shows_what_it_cites(encoder: Encoder) -> None:
    answer = await verified(f"{PARAPHRASE} Supplements had no effect on influenza [1][2].", encoder)
    assert [(s.support, s.reason, s.confidence) for s in answer.sentences] == [
        (Support.NOT_VERIFIED, NO_JUDGE, None)
    ] * 2
    assert [[e.title for e in s.evidence] for s in answer.sentences] == [["trial"], ["trial", "pool"]]
    assert answer.unsupported == ()


@pytest.mark.parametrize("support", [Support.SUPPORTED, Support.NOT_SUPPORTED])
async def test_a_judge_decides_a_written_sentence(support: Support, encoder: Encoder) -> None:
    [sentence] = (await verified(PARAPHRASE, encoder, judge=Says(support))).sentences
    assert (sentence.support, sentence.confidence, sentence.reason) == (support, 0.75, "It says so.")
    assert [e.text for e in sentence.evidence] == ([QUOTE] if support is Support.SUPPORTED else [])


async def test_a_missing_detail_is_not_supported_and_no_judge_is_asked(encoder: Encoder) -> None:
    draft = "Daily vitamin D lowered the incidence of influenza by 15 % in adults who were deficient [1]."
    judge = Says(Support.SUPPORTED)
    [sentence] = (await verified(draft, encoder, judge=judge)).sentences
    assert (sentence.support, sentence.evidence, judge.claims) == (Support.NOT_SUPPORTED, (), [])
    assert "15 %" in sentence.reason


@pytest.mark.parametrize(
    "draft", ["No.", "It did.", "Never.", "That is so.", "They never do.", "This is true.", "Yes!"]
)
async def test_a_sentence_without_content_is_not_verified_whatever_a_judge_says(draft: str, encoder: Encoder) -> None:
    judge = Says(Support.SUPPORTED)
    [sentence] = (await verified(draft, encoder, judge=judge)).sentences
    assert (sentence.support, judge.claims) == (Support.NOT_VERIFIED, [])


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
