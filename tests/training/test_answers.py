"""What the scorer and the refusal are trained on."""

import numpy as np

from discorag.answer.words import Said
from discorag.types.chunk import Chunk
from discorag.types.span import Span
from training.answers import stopping
from training.answers.__main__ import alone
from training.answers.collect import Example
from training.answers.listwise import Ranked, fit


def _chunk(i: int, text: str) -> Chunk:
    whole = {"start": 0, "end": len(text)}
    return Chunk.model_validate(
        {"id": f"c{i}", "doc_id": f"d{i}", "order": 0, "span": whole, "text": text, "sentences": [whole]}
    )


def _example(*, answerable: bool) -> Example:
    return Example(
        dataset="nq_open_oracle",
        group="Tide",
        sample="q",
        query="Why do tides rise?",
        chunks=(_chunk(0, "The moon is far."), _chunk(1, "Tides rise with the moon.")),
        graph=None,
        gold={"d1": (Span(start=0, end=5),)},
        answerable=answerable,
        setting="own",
    )


def test_evidence_is_kept_as_lines_of_json() -> None:
    example = _example(answerable=True)
    assert Example.model_validate_json(example.model_dump_json()) == example
    assert example.case.chunks == example.chunks


def test_a_question_of_one_document_is_asked_of_the_one_that_answers_or_else_of_the_nearest() -> None:
    assert [c.doc_id for c in alone(_example(answerable=True)).chunks] == ["d1"]
    assert [c.doc_id for c in alone(_example(answerable=False)).chunks] == ["d0"]


def _questions(dataset: str = "set") -> list[Ranked]:
    """Six units each, of which one is gold and says all words of the question; and those that say nothing."""
    rng, found = np.random.default_rng(0), list[Ranked]()
    for i in range(60):
        gold = np.arange(6) == i % 6
        rows = np.stack([gold + rng.normal(0, 0.3, 6), rng.normal(size=6)], 1)
        forms = np.where(gold, 1.0, 0.1)[:, None]
        told = Said(forms=forms, meanings=forms, unusual=np.ones(1), names=np.zeros(1, bool))
        found.append(Ranked(dataset, str(i), rows, gold, told))
    return found


def test_the_scorer_learns_which_feature_tells_gold() -> None:
    model, relevance = fit(_questions(), ("tells", "noise"))
    assert model.weights[0] > 5 * abs(model.weights[1])
    likely, unlikely = model.probabilities(np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert likely > 0.5 > unlikely
    assert {r.shape for r in relevance} == {(6,)}


def test_where_one_unit_answers_the_stop_learns_to_tell_no_more() -> None:
    questions = [q for name in stopping.SENTENCES for q in _questions(name)]
    _, relevance = fit(questions, ("tells", "noise"))
    model, told = stopping.fit(questions, relevance)
    assert set(told) == set(stopping.SENTENCES)
    assert all(1 <= figures["units"] < 2 for figures in told.values())
    assert all(figures["f1"] > 0.7 for figures in told.values())
    assert 0 < model.threshold < 1
