"""How far a text says the words of a question."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discorag.answer.words import asked, likeness, rarity, said_in
from discorag.types.case import Case
from discorag.types.chunk import Chunk

WORDS = st.lists(st.text("abcdetrs", min_size=1, max_size=8), min_size=1, max_size=5, unique=True)


@given(WORDS, st.lists(st.text(max_size=40), max_size=4))
def test_likeness_is_a_share_whatever_the_texts(words: list[str], texts: list[str]) -> None:
    said = likeness(words, texts)
    assert said.shape == (len(texts), len(words))
    assert ((said >= 0) & (said <= 1)).all()


def test_the_same_word_counts_fully_another_form_or_a_misspelling_much_and_another_word_nothing() -> None:
    [[same, form, typo, other]] = likeness(
        ["influenza", "eruption", "vitamni", "moon"], ["Influenza erupted; vitamin."]
    )
    assert same == 1
    assert 0.4 < form < 1
    assert 0.4 < typo < 1
    assert other == 0


def test_a_word_that_few_texts_say_weighs_more() -> None:
    weights = rarity(likeness(["tide", "neap"], ["The tide.", "A tide.", "Neap tide."]))
    assert weights[1] > weights[0]
    assert np.isclose(weights.sum(), 1)


def test_stop_words_are_not_asked_for() -> None:
    assert asked("What is the tide of the tide?") == ["tide"]


def test_what_sentences_say_is_counted_once_and_again_for_another_question() -> None:
    text = "The prince slept."
    whole = {"start": 0, "end": len(text)}
    chunk = Chunk.model_validate(
        {"id": "c", "doc_id": "d", "order": 0, "span": whole, "text": text, "sentences": [whole]}
    )
    case = Case(query="Who is the king?", chunks=(chunk,))
    told = said_in(case)
    assert said_in(replace(case, instruction="briefly")) is told  # another stage's case of the same chunks
    assert told.meanings[0, 0] > 0.3 > told.forms[0, 0]
    assert said_in(replace(case, query="Who slept?")).forms[0, 0] == 1
