"""Which questions are asked over which documents."""

from collections import Counter

from bench.answers.sets import restrict, spread, without_gold
from discorag.schema.values import Span
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument


def sample(name: str, *documents: str, gold: str = "") -> Sample:
    pieces = (Gold(label="evidence", anywhere=(DocSpan(doc=gold, span=Span(start=0, end=1)),)),) if gold else ()
    return Sample(id=name, query="Who?", documents=documents, gold=pieces)


def test_a_sample_is_spread_over_the_documents_and_always_the_same() -> None:
    samples = [sample(f"{doc}-{n}", doc) for doc in "abc" for n in range(9)]
    chosen = spread(samples, 7)
    assert chosen == spread(reversed(samples), 7)
    assert sorted(Counter(s.documents[0] for s in chosen).values()) == [2, 2, 3]


def test_documents_with_gold_evidence_are_taken_away() -> None:
    assert without_gold(sample("q", "a", "b", "c", gold="b")) == ("a", "c")


def test_documents_of_questions_that_are_not_asked_are_left_out() -> None:
    documents = {doc: SourceDocument(id=doc, title=doc, text=doc) for doc in "ab"}
    whole = Benchmark(name="made", documents=documents, samples=(sample("p", "a"), sample("q", "b")))
    assert list(restrict(whole, whole.samples[1:]).documents) == ["b"]
