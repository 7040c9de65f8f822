"""What the outcome of a question means."""

import pytest

from bench.answers.baselines import Ranking
from bench.answers.replies import Conflict, Reply, Sentence
from bench.answers.scores import f1, first_is_gold, outcome, sides_held, units_at, words_at
from discorag.schema.values import Span
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

TEXT = "It rains. The city of Bergen lies by the sea. It is old."
CITY, RAIN, OLD = (10, 45), (0, 9), (46, 56)


def place(start: int, end: int, doc: str = "d") -> DocSpan:
    return DocSpan(doc=doc, span=Span(start=start, end=end))


def sentence(start: int, end: int, *, doc: str = "d", text: str = "", relevance: float | None = None) -> Sentence:
    return Sentence(text=text or TEXT[start:end], evidence=(place(start, end, doc),), relevance=relevance)


def sample(*gold: DocSpan, label: str = "evidence", answers: tuple[str, ...] = ("Bergen",)) -> Sample:
    pieces = tuple(Gold(label=label, anywhere=(g,)) for g in gold)
    return Sample(id="q", query="Where?", documents=("d",), gold=pieces, references=answers, short_answers=(answers,))


def benchmark(*samples: Sample) -> Benchmark:
    documents = {"d": SourceDocument(id="d", title="Bergen", text=TEXT)}
    return Benchmark(name="cities", documents=documents, samples=samples)


@pytest.mark.parametrize(
    ("evidence", "right"),
    [((10, 30, "d"), True), ((0, 20, "d"), True), ((0, 19, "d"), False), ((10, 30, "e"), False)],
)
def test_a_first_sentence_is_right_with_half_of_its_evidence_in_gold(
    evidence: tuple[int, int, str], right: bool
) -> None:
    start, end, doc = evidence
    assert first_is_gold(sample(place(10, 40)), [sentence(start, end, doc=doc)]) is right


def test_only_the_first_sentence_counts() -> None:
    assert not first_is_gold(sample(place(*CITY)), [sentence(*RAIN), sentence(*CITY)])


def test_an_accepted_string_counts_where_no_evidence_is_labelled_or_gold_is_only_the_places_of_strings() -> None:
    answer = [sentence(50, 56, text="It lies in bergen, by the sea.")]
    assert first_is_gold(sample(), answer)
    assert first_is_gold(sample(place(*CITY), label="highlight"), answer)
    assert first_is_gold(sample(place(*CITY)), answer, by_string=True)
    assert not first_is_gold(sample(place(*CITY)), answer)


def test_a_place_takes_in_the_sentences_that_share_half_of_it_or_of_themselves() -> None:
    units = [place(*RAIN), place(*CITY), place(*OLD)]
    assert units_at(units, [place(12, 20)]) == {1}
    assert units_at(units, [place(0, 45)]) == {0, 1}
    assert units_at(units, [place(8, 44)]) == {1}
    assert units_at(units, [place(0, 9, doc="e")]) == set()


def test_f1_is_of_sets_of_sentences() -> None:
    assert f1(frozenset({1, 2}), frozenset({2})) == pytest.approx(2 / 3)
    assert f1(frozenset(), frozenset({2})) == 0.0


def test_a_word_is_marked_where_it_overlaps_a_span() -> None:
    assert words_at("one two three", [place(2, 5)]) == {0, 1}


def test_a_side_is_held_where_evidence_touches_its_statement() -> None:
    both = sample(place(*RAIN), place(*OLD))
    assert sides_held(both, [place(0, 30)]) == 1
    assert sides_held(both, [place(*RAIN), place(*OLD)]) == 2


def test_baselines_and_the_product_are_scored_alike_with_refusal_on_and_off() -> None:
    question = sample(place(*CITY))
    reply = Reply(id="q", refused="Nothing says so.", forced=(sentence(*RAIN), sentence(*CITY)))
    ranking = Ranking(id="q", best={"bm25": (place(*CITY),), "reranker": (place(*OLD),)}, scores={"bm25": 2.0})
    found = outcome(question, reply, ranking, "hotpotqa/own", benchmark(question))
    assert found.first == {"product": False, "product_refusing": False, "bm25": True, "reranker": False}
    assert found.f1 == {"product": pytest.approx(2 / 3), "product_refusing": 0.0, "bm25": 1.0, "reranker": 0.0}
    assert (found.refused, found.str_em, found.scores) == (True, 0.0, {"bm25": 2.0})


def test_a_question_without_its_gold_documents_cannot_be_answered() -> None:
    question = sample(place(*CITY))
    assert not outcome(question, Reply(id="q"), None, "hotpotqa/without", benchmark(question)).answerable


def test_padding_is_counted_where_every_sentence_has_a_relevance() -> None:
    question = sample(place(*CITY))
    scored = Reply(id="q", sentences=(sentence(*CITY, relevance=0.9), sentence(*RAIN, relevance=0.2)))
    assert outcome(question, scored, None, "nq/own", benchmark(question)).padding == 1
    unscored = Reply(id="q", sentences=(sentence(*CITY),))
    assert outcome(question, unscored, None, "nq/own", benchmark(question)).padding is None


def test_the_digest_of_a_conflict_does_not_depend_on_the_order() -> None:
    assert Conflict(relation="CONTRADICTS", a="x", b="y").id == Conflict(relation="CONTRADICTS", a="y", b="x").id
