from dataclasses import replace

import pytest

from discorag.models.protocol import Encoder
from discorag.types.answer import Answer
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.graph import Edge, RhetoricalGraph
from discorag.types.plan import Plan
from discorag.types.span import Span
from discorag.verification.local import LocalJudge
from discorag.verification.tracing import TracingVerifier
from tests.cases import case_from

SOURCES = {
    "trial": "Daily vitamin D lowered the incidence of influenza by 12 % in adults who were deficient.",
    "pool": "Across all trials, supplements had no significant effect on the incidence of influenza.",
}


async def verified(draft: str, encoder: Encoder, *, plan: str | None = None, graph: bool = False) -> Answer:
    case = await case_from(SOURCES, "Does vitamin D prevent flu?", encoder)
    ids = tuple(c.id for c in case.chunks)
    edge = Edge(source=ids[1], target=ids[0], relation=ChunkRelation.CONTRASTS_WITH)
    case = replace(
        case,
        plan=Plan(paragraph=plan) if plan else None,
        graph=RhetoricalGraph(chunks=ids, edges=(edge,)) if graph else None,
    )
    return await TracingVerifier(encoder, LocalJudge()).verify(case, draft)


@pytest.mark.parametrize(
    "draft",
    [
        "Daily vitamin D lowered the incidence of influenza by 12 % in adults who were deficient [1].",
        "In deficient adults, daily vitamin D lowered the incidence of influenza by 12 % [1].",
        "By contrast, across all trials, supplements had no significant effect on the incidence of influenza [2].",
    ],
    ids=["verbatim", "reworded", "with a connective"],
)
async def test_what_a_source_says_is_supported_by_its_exact_span(draft: str, encoder: Encoder) -> None:
    sentence = (await verified(draft, encoder)).sentences[0]
    assert sentence.supported
    span = sentence.evidence[0]
    assert SOURCES[span.title][span.span.start : span.span.end] == span.text


@pytest.mark.parametrize(
    "draft",
    [
        "Daily vitamin D lowered the incidence of influenza by 15 % in adults who were deficient [1].",
        "Daily vitamin D did not lower the incidence of influenza by 12 % in adults who were deficient [1].",
        "Across all trials, supplements had a significant effect on the incidence of influenza [2].",
        "Zinc shortens colds in children [1].",
        "Daily vitamin D raised the incidence of influenza by 12 % in adults who were deficient [1].",
        "Daily vitamin D lowered the incidence of influenza by 1 [1].",
    ],
    ids=["number", "negation added", "negation lost", "invented", "direction", "number cut short"],
)
async def test_a_changed_number_or_polarity_and_an_invention_are_never_supported(draft: str, encoder: Encoder) -> None:
    sentence = (await verified(draft, encoder)).sentences[0]
    assert not sentence.supported
    assert sentence.reason


async def test_a_wrong_citation_is_corrected(encoder: Encoder) -> None:
    answer = await verified("Daily vitamin D lowered the incidence of influenza by 12 % [2].", encoder)
    assert [e.title for e in answer.sentences[0].evidence] == ["trial"]


async def test_citations_are_taken_out_of_the_text(encoder: Encoder) -> None:
    assert "[" not in (await verified("Daily vitamin D lowered the incidence of influenza [1][2].", encoder)).text


async def test_sentences_are_matched_to_the_steps_that_they_carry_out(encoder: Encoder) -> None:
    draft = (
        "Supplements had no significant effect on the incidence of influenza [2]. "
        "Daily vitamin D lowered the incidence of influenza by 12 % [1]. Nothing else is known."
    )
    answer = await verified(draft, encoder, plan="Open with [1]. Then set [2] against it.")
    assert [s.step for s in answer.sentences] == [1, 0, None]


async def test_a_disagreement_without_spans_is_located_in_both_sources(encoder: Encoder) -> None:
    draft = "Daily vitamin D lowered the incidence of influenza by 12 % [1]. Supplements had no significant effect [2]."
    answer = await verified(draft, encoder, graph=True)
    assert [(d.relation, d.a.text, d.b.text) for d in answer.disagreements] == [
        (ChunkRelation.CONTRASTS_WITH, SOURCES["trial"], SOURCES["pool"])
    ]


async def test_a_disagreement_with_a_chunk_that_the_answer_does_not_use_is_not_reported(encoder: Encoder) -> None:
    answer = await verified("Daily vitamin D lowered the incidence of influenza by 12 % [1].", encoder, graph=True)
    assert answer.disagreements == ()


@pytest.mark.parametrize("draft", ["", "  \n ", "[1] [2]."])
async def test_an_empty_draft_is_an_answer_without_sentences(draft: str, encoder: Encoder) -> None:
    assert (await verified(draft, encoder)).sentences == ()


async def test_a_sentence_longer_than_the_encoders_window_is_still_judged(encoder: Encoder) -> None:
    long = "Daily vitamin D lowered the incidence of influenza, " + "and again it did, " * 120 + "so they say [1]."
    sentence = (await verified(long, encoder)).sentences[0]
    assert sentence.text.startswith("Daily vitamin D lowered")


async def test_a_disagreement_stated_in_both_directions_is_reported_once(encoder: Encoder) -> None:
    case = await case_from(SOURCES, "Does vitamin D prevent flu?", encoder)
    a, b = (c.id for c in case.chunks)
    edges = (
        Edge(source=a, target=b, relation=ChunkRelation.CONTRADICTS),
        Edge(source=b, target=a, relation=ChunkRelation.CONTRADICTS),
    )
    case = replace(case, graph=RhetoricalGraph(chunks=(a, b), edges=edges))
    draft = "Daily vitamin D lowered the incidence of influenza by 12 % [1]. Supplements had no significant effect [2]."
    assert len((await TracingVerifier(encoder, LocalJudge()).verify(case, draft)).disagreements) == 1


@pytest.mark.parametrize(
    ("source", "draft"),
    [
        ("It is a myth that zinc cures every cold in children.", "Zinc cures every cold in children [1]."),
        ("Dr Vasse says that zinc cures every cold in children.", "Zinc cures every cold in children [1]."),
        (
            "Zinc did not lower mortality in children, but it did not cause harm.",
            "Zinc did lower mortality in children, but it did not cause harm [1].",
        ),
    ],
    ids=["myth", "attribution lost", "one of two negations lost"],
)
async def test_a_lost_speaker_or_negation_is_never_supported(source: str, draft: str, encoder: Encoder) -> None:
    case = await case_from({"a": source}, "Does zinc help?", encoder)
    assert not (await TracingVerifier(encoder, LocalJudge()).verify(case, draft)).sentences[0].supported


async def test_a_unit_is_read_with_the_sentence_that_it_is_a_part_of(encoder: Encoder) -> None:
    text = "Critics of the plan say that zinc harms children in winter."
    case = await case_from({"a": text}, "Does zinc harm?", encoder)
    cut = text.index("zinc")
    parts = tuple(
        case.chunks[0].model_copy(
            update={"units": (Span(start=0, end=cut - 1), Span(start=cut, end=len(text))), "tree": None}
        )
        for _ in "a"
    )
    answer = await TracingVerifier(encoder, LocalJudge()).verify(
        replace(case, chunks=parts), "Zinc harms children in winter [1]."
    )
    assert not answer.sentences[0].supported


async def test_a_number_is_looked_for_among_the_evidence_even_if_its_words_are_found_elsewhere(
    encoder: Encoder,
) -> None:
    text = "A fire took the booking site down on Thursday. About 200 bookings could not be recovered."
    case = await case_from({"a": text}, "What was lost?", encoder)
    answer = await TracingVerifier(encoder, LocalJudge()).verify(case, "After the fire, 200 bookings were lost [1].")
    assert "200" in "".join(e.text for e in answer.sentences[0].evidence)


async def test_a_heading_is_no_supported_sentence_but_a_statement_that_is_also_a_title_is(encoder: Encoder) -> None:
    texts = {"The moon pulls the sea.": "# Tides and the moon above\n\nThe moon pulls the sea. Tides follow."}
    case = await case_from(texts, "tides", encoder)
    draft = "# Tides and the moon above\n\nTides and the moon above [1]\n\nThe moon pulls the sea [1]."
    answer = await TracingVerifier(encoder, LocalJudge()).verify(case, draft)
    assert [s.supported for s in answer.sentences] == [False, False, True]


@pytest.mark.parametrize(
    ("sentence", "supported"),
    [
        ("服用维生素D降低了流感的发病率。", True),
        ("流感的发病率，服用维生素D降低了。", True),
        ("服用维生素D没有降低流感的发病率。", False),
        ("服用维生素E降低了12例。", False),
    ],
    ids=["copied", "in another order", "denied", "a figure"],
)
async def test_chinese_is_checked_for_its_terms_digits_and_denials(
    sentence: str, supported: bool, encoder: Encoder
) -> None:
    case = await case_from({"a": "服用维生素D降低了流感的发病率。"}, "流感", encoder)
    answer = await TracingVerifier(encoder, LocalJudge()).verify(case, sentence)
    assert [s.supported for s in answer.sentences] == [supported]


async def test_support_comes_from_one_place_unless_each_part_stands_on_its_own(encoder: Encoder) -> None:
    texts = {
        "trial": "Tamoril lowered blood pressure by 9 mmHg in the patients who cut down on salt.",
        "review": "Velin is not given to pregnant women in any of the hospitals.",
    }
    case = await case_from(texts, "drugs", encoder)
    verifier = TracingVerifier(encoder, LocalJudge())
    joined = "; ".join(text.rstrip(".") for text in texts.values())
    both = (await verifier.verify(case, f"{joined}.")).sentences[0]
    stitched = (await verifier.verify(case, "Tamoril is not given to pregnant women who cut down on salt.")).sentences[
        0
    ]
    assert {e.title for e in both.evidence} == {"trial", "review"}
    assert not stitched.supported


async def test_a_verdict_says_how_sure_it_is(encoder: Encoder) -> None:
    answer = await verified(
        "Daily vitamin D lowered the incidence of influenza by 12 % in adults who were deficient [1]. "
        "In deficient adults, daily vitamin D lowered the incidence of influenza by 12 % [1]. "
        "Zinc shortens colds in children [1].",
        encoder,
    )
    copied, reworded, invented = (s.confidence for s in answer.sentences)
    assert copied is not None
    assert reworded is not None
    assert invented is not None
    assert 1.0 == copied > reworded > invented
