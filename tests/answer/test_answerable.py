"""When the evidence does not answer."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.answer.answerable import NAMES, PASSAGES, evidence_features, kind_of, model_for, passages_of
from discorag.answer.fit import FEWEST, WRONG, fit, held_out
from discorag.models.protocol import Encoder
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.errors import ConfigError, InputError
from tests.cases import case_of

RNG = np.random.default_rng(0)


async def probability(corpus: str, question: str, encoder: Encoder) -> float:
    case, model = await case_of(corpus, question, encoder), model_for(encoder)
    assert model is not None
    passages = await encoder.encode_documents([c.text for c in case.chunks])
    row = evidence_features(case, passages, await encoder.encode_query(question))
    return float(model.probabilities(row[None])[0]) - model.least(row)


async def test_what_the_documents_say_passes_and_what_they_do_not_does_not(encoder: Encoder) -> None:
    assert await probability("tides", "Why are some tides higher than others?", encoder) > 0
    assert await probability("tides", "What is the capital of Australia?", encoder) < 0
    assert await probability("vitamin-d", "Who won the world cup in 2014?", encoder) < 0


@given(question=st.text(min_size=1, max_size=40), text=st.text(min_size=1, max_size=80))
def test_any_question_of_any_text_has_numbers(question: str, text: str) -> None:
    whole = {"start": 0, "end": len(text)}
    chunk = Chunk.model_validate(
        {"id": "c", "doc_id": "d", "order": 0, "span": whole, "text": text, "sentences": [whole]}
    )
    vectors = np.full((1, 4), 0.5, np.float32)
    rows = evidence_features(Case(query=question, chunks=(chunk,)), vectors, vectors[0])
    assert rows.shape == (len(NAMES),)
    assert np.isfinite(rows).all()


async def test_an_encoder_that_nothing_was_fitted_for_refuses_nothing(encoder: Encoder) -> None:
    class Other:
        version = "other-encoder/256"

    assert model_for(Other()) is None  # type: ignore[arg-type]
    assert kind_of(encoder) == encoder.version.partition("/")[0]


async def test_the_users_own_file_comes_before_ours(encoder: Encoder, tmp_path: Path) -> None:
    ours = model_for(encoder)
    assert ours is not None
    own = ours.model_copy(update={"threshold": 0.9})
    (tmp_path / "own.json").write_text(json.dumps([own.model_dump()]))
    assert model_for(encoder, tmp_path / "own.json") == own


async def test_a_file_that_changes_is_read_again_and_one_that_is_not_there_or_no_model_is_an_error(
    encoder: Encoder, tmp_path: Path
) -> None:
    ours, file = model_for(encoder), tmp_path / "own.json"
    assert ours is not None
    with pytest.raises(ConfigError, match=r"own\.json"):
        model_for(encoder, file)
    for i, threshold in enumerate((0.9, 0.8)):
        file.write_text(json.dumps([ours.model_copy(update={"threshold": threshold}).model_dump()]))
        os.utime(file, ns=(i, i))
        own = model_for(encoder, file)
        assert own is not None
        assert own.threshold == threshold
    file.write_text("[{}]")
    with pytest.raises(ConfigError, match="weights"):
        model_for(encoder, file)


async def test_a_misspelt_question_passes_that_passes_when_it_is_spelt_right(encoder: Encoder) -> None:
    assert await probability("tides", "Why are some tdies hihger than otehrs?", encoder) > 0


def test_a_name_that_nothing_says_speaks_against_an_answer() -> None:
    text = "The harbour of Delos has high tides."
    whole = {"start": 0, "end": len(text)}
    chunk = Chunk.model_validate(
        {"id": "c", "doc_id": "d", "order": 0, "span": whole, "text": text, "sentences": [whole]}
    )
    vectors, at = np.ones((1, 1), np.float32), NAMES.index("name_said_least")
    rows = [
        evidence_features(Case(query=f"How high are tides at {name}?", chunks=(chunk,)), vectors, vectors[0])
        for name in ("Delos", "Dellos", "Brest")
    ]
    said, misspelt, unsaid = (row[at] for row in rows)
    assert said == 1
    assert said > misspelt > unsaid + 0.4


def test_vectors_of_other_chunks_are_not_taken_for_those_of_the_case() -> None:
    text = "Tides rise."
    whole = {"start": 0, "end": len(text)}
    chunk = Chunk.model_validate(
        {"id": "c", "doc_id": "d", "order": 0, "span": whole, "text": text, "sentences": [whole]}
    )
    case = Case(query="?", chunks=(chunk,), known={PASSAGES: ((chunk,), np.ones((1, 4)))})
    assert passages_of(case) is None  # an equal tuple, but another one: it may have been edited since
    assert passages_of(replace(case, known={PASSAGES: (case.chunks, np.ones((1, 4)))})) is not None


def _questions(count: int) -> tuple[np.ndarray, np.ndarray]:
    answerable = np.arange(count) % 2 == 0
    return RNG.normal(size=(count, len(NAMES))) + 2 * answerable[:, None], answerable


def test_what_is_fitted_tells_the_two_apart_and_refuses_few_that_have_an_answer() -> None:
    rows, answerable = _questions(400)
    model = fit(rows, answerable, [str(i // 4) for i in range(400)], "e")
    told = model.probabilities(rows)
    assert (told[answerable] < model.threshold).mean() < 2 * WRONG
    assert (told[~answerable] < model.threshold).mean() > 0.9


def test_a_group_is_never_on_both_sides_of_a_fold() -> None:
    rows, answerable = _questions(80)
    groups = [str(i // 8) for i in range(80)]
    before = held_out(rows, answerable, groups, np.ones(80))
    changed = answerable.copy()
    changed[:8] = ~changed[:8]  # the labels of one group play no part in its own probabilities
    assert np.allclose(held_out(rows, changed, groups, np.ones(80))[:8], before[:8])


def test_too_few_questions_are_refused() -> None:
    rows, answerable = _questions(2 * FEWEST - 2)
    with pytest.raises(InputError, match="19 questions with an answer"):
        fit(rows, answerable, [str(i) for i in range(len(rows))], "e")
