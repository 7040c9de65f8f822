"""QASPER's scores against values computed by hand."""

from collections import Counter

import pytest

from discorag.schema.values import Span
from eval.metrics.base import Given
from eval.metrics.qasper import DisRetrieval, QasperAnswerF1, QasperEvidenceF1, f1
from eval.sample import DocSpan, Gold, Sample, SourceDocument
from tests.eval.metrics.givens import given as answered

DISRETRIEVAL_F1, DISRETRIEVAL_RECALL = DisRetrieval(99, "disretrieval_f1"), DisRetrieval(99, "disretrieval_recall")

PARAGRAPHS = ("We train on whales.", "The corpus holds songs.", "Scores rise by two points.", "We thank the sea.")
TEXT = "\n\n".join(PARAGRAPHS)


def place(phrase: str) -> DocSpan:
    start = TEXT.index(phrase)
    return DocSpan(doc="p", span=Span(start=start, end=start + len(phrase)))


def given_of(
    retrieved: tuple[str, ...],
    evidence: dict[int, tuple[str, ...]] | None = None,
    highlights: dict[int, tuple[str, ...]] | None = None,
    *,
    annotators: int = 1,
    answerable: bool = True,
    parts: bool = True,
) -> Given:
    spans = tuple(place(p).span for p in PARAGRAPHS) if parts else ()
    labelled = [("evidence", evidence or {}), ("highlight", highlights or {})]
    gold = tuple(
        Gold(label=label, anywhere=(place(text),), annotator=who)
        for label, by in labelled
        for who, found in by.items()
        for text in found
    )
    sample = Sample(
        id="q", query="?", documents=("p",), gold=gold, references=("x",) * annotators, answerable=answerable
    )
    document = SourceDocument(id="p", title="p", text=TEXT, parts=spans)
    return Given(sample=sample, documents={"p": document}, answer="", evidence=tuple(map(place, retrieved)))


async def test_the_best_annotator_counts() -> None:
    # {bleu, rouge} against {bleu}: P = 1/2, R = 1, F1 = 2/3; against {accuracy}: 0
    sample = answered("BLEU, ROUGE", references=("accuracy", "the BLEU"))
    assert await QasperAnswerF1().score(sample) == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("answer", "reference", "score"),
    [("unanswerable.", "Unanswerable", 100), ("Yes", "Yes", 100), ("No", "Yes", 0), ("Yes, they do", "Yes", 50)],
)
async def test_yes_no_and_unanswerable_are_compared_as_words(answer: str, reference: str, score: float) -> None:
    # last: {yes, they, do} against {yes}: P = 1/3, R = 1, F1 = 1/2
    assert await QasperAnswerF1().score(answered(answer, references=(reference,))) == pytest.approx(score)


@pytest.mark.parametrize(
    ("retrieved", "evidence", "words", "score"),
    [
        # precision 1/3, recall 1/2: F1 = 2 * 1 / (3 + 2)
        (PARAGRAPHS[:3], {0: (PARAGRAPHS[0], PARAGRAPHS[3])}, 99, 40),
        # the best annotator, never the union: annotator 0: 0; annotator 1: precision 1/2, recall 1: 2/3
        (PARAGRAPHS[:2], {0: PARAGRAPHS[2:], 1: (PARAGRAPHS[0],)}, 99, 200 / 3),
        # "We train on whales." has 19 characters: 10 are enough, 9 are not
        (("We train o",), {0: (PARAGRAPHS[0],)}, 99, 100),
        (("We train ",), {0: (PARAGRAPHS[0],)}, 99, 0),
        # only the first paragraph's four words
        (PARAGRAPHS[:2], {0: (PARAGRAPHS[0],)}, 4, 100),
        # gold inside a paragraph means that paragraph
        (PARAGRAPHS[:1], {0: ("train on",)}, 99, 100),
    ],
)
async def test_evidence_f1_compares_sets_of_paragraphs(
    retrieved: tuple[str, ...], evidence: dict[int, tuple[str, ...]], words: int, score: float
) -> None:
    found = await QasperEvidenceF1(words).score(given_of(retrieved, evidence, annotators=len(evidence)))
    assert found == pytest.approx(score)


async def test_annotator_without_evidence_is_matched_by_retrieving_nothing_only() -> None:
    assert await QasperEvidenceF1(99).score(given_of((), {0: PARAGRAPHS[:1]}, annotators=2)) == 100
    assert await QasperEvidenceF1(99).score(given_of((), {0: PARAGRAPHS[:1]}, annotators=1)) == 0
    assert await QasperEvidenceF1(99).score(given_of(PARAGRAPHS[:1], annotators=2, answerable=False)) == 0
    assert await QasperEvidenceF1(99).score(given_of((), annotators=2, answerable=False)) == 100


async def test_an_answerable_question_without_labels_is_not_scored_or_counts_0_as_each_evaluator_has_it() -> None:
    given = given_of(PARAGRAPHS[:1])
    assert await QasperEvidenceF1(99).score(given) is None
    assert await DISRETRIEVAL_F1.score(given) == 0
    assert await DISRETRIEVAL_RECALL.score(given) == 0


async def test_what_has_no_paragraphs_or_no_label_of_the_kind_is_not_scored() -> None:
    assert await QasperEvidenceF1(99).score(given_of((), answerable=False, parts=False)) is None
    assert await QasperEvidenceF1(99).score(given_of(PARAGRAPHS[:1], highlights={0: PARAGRAPHS[:1]})) is None
    assert await DISRETRIEVAL_F1.score(given_of(PARAGRAPHS[:1], evidence={0: PARAGRAPHS[:1]})) == 0


async def test_disretrieval_compares_bags_of_normalised_tokens() -> None:
    given = given_of((PARAGRAPHS[1],), highlights={0: ("on whales", "corpus holds")})
    # retrieved: corpus holds songs (3, "the" dropped); gold: on whales corpus holds (4); shared 2
    assert await DISRETRIEVAL_F1.score(given) == pytest.approx(100 * 2 * 2 / (3 + 4))
    assert await DISRETRIEVAL_RECALL.score(given) == pytest.approx(50)


async def test_disretrieval_recall_is_that_of_the_annotator_with_the_best_f1() -> None:
    given = given_of((TEXT,), highlights={0: ("whales",), 1: ("We train on whales", "thank")}, annotators=2)
    # 15 tokens are retrieved: annotator 0 has F1 2/16 and recall 1, annotator 1 F1 10/20 and recall 1
    assert await DISRETRIEVAL_F1.score(given) == pytest.approx(50)
    half = given_of(("We train on",), highlights={0: ("We",), 1: ("We train on whales",)}, annotators=2)
    # annotator 0: F1 2/4, recall 1; annotator 1: F1 6/7, recall 3/4
    assert await DISRETRIEVAL_RECALL.score(half) == pytest.approx(75)


async def test_disretrieval_without_any_evidence_retrieved_is_zero_for_labelled_questions() -> None:
    given = given_of((), highlights={0: ("whales",)})
    assert await DISRETRIEVAL_F1.score(given) == 0
    assert await DISRETRIEVAL_RECALL.score(given) == 0
    assert await DISRETRIEVAL_F1.score(given_of((), answerable=False)) == 100
    assert await DISRETRIEVAL_F1.score(given_of(("whales",), answerable=False)) == 0


def test_f1_counts_repeated_tokens_as_often_as_both_have_them() -> None:
    # shared: a twice; precision 2/3, recall 2/2: F1 = 4/5
    assert f1(Counter("aab"), Counter("aa")) == pytest.approx((0.8, 1.0))
    assert f1(Counter("ab"), Counter("c")) == (0, 0)
