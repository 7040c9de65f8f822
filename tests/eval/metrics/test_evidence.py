"""Evidence metrics against values computed by hand."""

import re

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from discorag.schema.values import Span
from eval.metrics.base import Given
from eval.metrics.evidence import (
    DocumentRecall,
    EvidenceRankScore,
    EvidenceStrEm,
    GoldHit,
    PartRecall,
    SpanRecall,
    cut,
    evidence_text,
    retrieved_parts,
)
from eval.sample import DocSpan, Gold, Sample, SourceDocument

TEXT = "Ann sold the red mill.\nBen bought it in May.\nThe river rose twice."


def at(doc: str, start: int, end: int) -> DocSpan:
    return DocSpan(doc=doc, span=Span(start=start, end=end))


def place(phrase: str, doc: str = "a", text: str = TEXT) -> DocSpan:
    start = text.index(phrase)
    return at(doc, start, start + len(phrase))


def lines(text: str) -> tuple[Span, ...]:
    spans = [Span(start=text.index(line), end=text.index(line) + len(line)) for line in text.split("\n")]
    return tuple(spans)


def given_of(evidence: tuple[DocSpan, ...], *gold: tuple[DocSpan, ...], text: str = TEXT, **fields: object) -> Given:
    documents = {
        name: SourceDocument(id=name, title=name, text=body, parts=lines(body))
        for name, body in {"a": text, "b": "Nothing of use stands here.", "c": "Nor here."}.items()
    }
    pieces = tuple(Gold(label=f"g{i}", anywhere=places) for i, places in enumerate(gold))
    sample = Sample.model_validate({"id": "q", "query": "?", "gold": pieces, **fields})
    return Given(sample=sample, documents=documents, answer="", evidence=evidence)


def texts(given: Given, words: int) -> list[str]:
    return [given.text(piece) for piece in cut(given, words)]


IT, RIVER = place("Ben bought it"), place("The river")


@pytest.mark.parametrize(
    ("evidence", "words", "pieces"),
    [
        ((place("Ben bought it in May."), place("The river rose twice.")), 7, ["Ben bought it in May.", "The river"]),
        # 3 words, then the new " in May." (2), then nothing new, then "The" (1)
        ((IT, place("bought it in May."), IT, RIVER), 6, ["Ben bought it", " in May.", "The"]),
        ((place("it"), place("bought it in")), 9, ["it", "bought ", " in"]),
        ((), 100, []),
    ],
)
def test_the_budget_ends_at_a_word_and_what_overlaps_is_counted_once(
    evidence: tuple[DocSpan, ...], words: int, pieces: list[str]
) -> None:
    assert texts(given_of(evidence), words) == pieces


@pytest.mark.parametrize(
    ("text", "words", "piece"),
    [
        ("收入为 5,000 元。增长了。", 4, "收入为 5,000"),
        ("好。。--- --- 是 end", 3, "好。。--- --- 是 end"),  # punctuation and rules of dashes are no words
    ],
)
def test_chinese_characters_count_one_word_each(text: str, words: int, piece: str) -> None:
    assert texts(given_of((at("a", 0, len(text)),), text=text), words) == [piece]


@forall(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), max_size=6), st.integers(0, 20))
def test_cut_is_disjoint_within_budget_and_inside_the_evidence(raw: list[tuple[int, int]], words: int) -> None:
    evidence = tuple(at("a", start, min(start + length, len(TEXT))) for start, length in raw)
    given = given_of(evidence)
    pieces = cut(given, words)
    characters = [i for piece in pieces for i in range(piece.span.start, piece.span.end)]
    retrieved = {i for piece in evidence for i in range(piece.span.start, piece.span.end)}
    assert len(characters) == len(set(characters))
    assert set(characters) <= retrieved
    counted = sum(len(re.findall(r"\w\S*", given.text(piece))) for piece in pieces)
    assert counted == words if set(characters) < retrieved else counted <= words


def test_evidence_text_joins_what_was_adjacent_and_has_documents_best_first_and_gaps_as_line_ends() -> None:
    assert evidence_text(given_of((place("river rose"), place("The river rose twice."))), 9) == "The river rose twice."
    given = given_of((at("b", 0, 7), place("rose"), place("Ann")))
    assert evidence_text(given, 9) == "Nothing\nAnn\nrose"


@pytest.mark.parametrize(
    ("evidence", "gold", "words", "score"),
    [
        # gold words Ben, bought, it, in, "May."; the last is cut in two, the first is missing: 3 of 5
        ((place("bought it in Ma"),), [(place("Ben bought it in May."),)], 100, 60),
        ((place("bought it in Ma"),), [(place("Ben bought it in May."),)], 1, 20),
        # a word of two gold pieces counts once: Ann of {Ann, sold, the}
        ((place("Ann"),), [(place("Ann sold"),), (place("Ann sold the"),)], 9, 100 / 3),
        ((place("The ri"), place("ver")), [(place("river"),)], 9, 100),
        # of several places the best: 3 of 5, not 0 of 2
        ((place("it in May."),), [(place("Ann sold"), place("Ben bought it in May."))], 9, 60),
        ((at("b", 0, 8),), [(at("a", 0, 8),)], 9, 0),
    ],
)
async def test_span_recall_is_the_share_of_gold_words_retrieved_whole(
    evidence: tuple[DocSpan, ...], gold: list[tuple[DocSpan, ...]], words: int, score: float
) -> None:
    assert await SpanRecall(words).score(given_of(evidence, *gold)) == pytest.approx(score)


async def test_part_recall_needs_half_of_the_characters_of_a_gold_part_and_gold_that_holds_one() -> None:
    gold = at("a", 0, 44)  # the first two lines, 22 and 21 characters
    eleven = at("a", 0, 11)
    ten = at("a", 23, 33)
    assert await PartRecall(99, "turn_recall").score(given_of((eleven, ten), (gold,))) == pytest.approx(50)
    eleven_of_21 = at("a", 23, 34)
    assert await PartRecall(99, "turn_recall").score(given_of((eleven, eleven_of_21), (gold,))) == 100
    assert await PartRecall(99, "x").score(given_of((at("a", 0, 40),), (place("red mill"),))) is None


async def test_parts_are_retrieved_by_half_also_from_two_stretches() -> None:
    given = given_of((place("Ann so"), place("e red"), place("The river ro")))
    # line 1: 6 + 5 of 22; line 2: none; line 3: 12 of 21
    assert retrieved_parts(given, 99) == {("a", 0), ("a", 2)}


async def test_gold_hit_needs_twenty_characters_or_all_of_a_shorter_piece_at_any_place() -> None:
    long, short = place(TEXT[0:30]), place("rose")
    nineteen, twenty = at("a", 0, 19), at("a", 0, 20)
    assert await GoldHit(99).score(given_of((nineteen, place("ros")), (long,), (short,))) == 0
    assert await GoldHit(99).score(given_of((twenty, place("ros")), (long,), (short,))) == 50
    assert await GoldHit(99).score(given_of((twenty, place("rose")), (long,), (short,))) == 100
    assert await GoldHit(99).score(given_of((place("rose"),), (place("Ann"), place("rose")))) == 100


CHUNKS = (at("c", 0, 3), at("c", 4, 8), at("a", 0, 3), at("b", 0, 3))
A_AND_B = [(at("a", 0, 9),), (at("a", 10, 15),), (at("b", 0, 5),)]


@pytest.mark.parametrize(
    ("k", "evidence", "gold", "score"),
    [
        (2, CHUNKS, A_AND_B, 0),
        (3, CHUNKS, A_AND_B, 50),
        (4, CHUNKS, A_AND_B, 100),
        (1, (at("b", 0, 3),), [(at("a", 0, 3), at("b", 0, 3))], 100),  # any document of a piece with several places
        (5, (at("b", 0, 3), at("b", 3, 5)), [], 50),  # without gold: the question's own documents, a and b
    ],
)
async def test_document_recall_counts_the_documents_of_the_first_k_chunks(
    k: int, evidence: tuple[DocSpan, ...], gold: list[tuple[DocSpan, ...]], score: float
) -> None:
    assert await DocumentRecall(k).score(given_of(evidence, *gold, documents=("a", "b"))) == score


async def test_evidence_str_em_looks_in_the_cut_evidence_for_some_or_all_points_also_by_rank() -> None:
    given = given_of((place("Ann sold the red mill."),), short_answers=[["A Red Mill!", "barn"], ["May"]])
    assert await EvidenceStrEm(5).score(given) == 50
    assert await EvidenceStrEm(4).score(given) == 0
    given = given_of((place("Ann sold the"), place("red mill")), short_answers=[["Red mill"], ["Ann"]])
    assert await EvidenceStrEm(9, over_points=min).score(given) == 100
    assert await EvidenceStrEm(3, over_points=min).score(given) == 0
    assert await EvidenceRankScore().score(given) == 100 * (1 / 2 / 1 + 1 / 2 / 2) / 2  # equation 10 of RDR2
