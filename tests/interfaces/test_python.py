"""What a program does: hand over texts and models, ask many questions, look at what comes back."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from discorag import AskResult, DiscoRAG
from discorag.config import Settings
from discorag.ingest.texts import GivenText
from discorag.schema.errors import EmptyCorpusError, InputError
from interfaces.views.frames import rows, to_pandas
from tests.interfaces import keywords

MEMORY = Settings.model_validate({"store": {"kind": "memory"}, "llm": {"cache": None}})
TIDES = "The moon pulls the sea, and so the tide rises twice a day."
COFFEE = "Coffee contains caffeine, which keeps people awake at night."


def test_keywords_are_the_options() -> None:
    assert keywords.FILE.read_text("utf-8") == keywords.render(), "run python -m tests.interfaces.keywords"


def test_resources_are_no_option() -> None:
    given: dict[str, Any] = {"backends": None}
    with DiscoRAG(MEMORY) as rag, pytest.raises(InputError, match="set by the facade"):
        rag.ask("Why?", **given)


def test_texts_of_an_iterator_are_stored_with_their_metadata_and_asked() -> None:
    texts = (text for text in (TIDES, GivenText(COFFEE, metadata={"title": "On coffee", "kind": "drink"})))
    with DiscoRAG(MEMORY) as rag:
        assert [o.status.value for o in rag.add_texts(texts, parser="rules").outcomes] == ["added", "added"]
        [sentence] = rag.ask("What keeps people awake?", filters={"kind": ["drink"]}).answer.sentences
        assert (sentence.text, sentence.evidence[0].title) == (COFFEE, "On coffee")


def test_a_text_that_is_given_again_under_its_name_replaces_the_former() -> None:
    with DiscoRAG(MEMORY) as rag:
        rag.add_documents([Document(TIDES, id="tides")], parser="rules")
        rag.add_texts([COFFEE], parser="rules")
        again = rag.add_documents([Document("The sun pulls the sea a little.", id="tides")], parser="rules")
        assert [o.status.value for o in again.outcomes] == ["replaced"]
        assert len(rag.documents()) == 2


def test_a_text_that_looks_like_front_matter_stays_text() -> None:
    with DiscoRAG(MEMORY) as rag:
        rag.add_texts(["---\ntitle: none\n---\nThe moon pulls the sea."], parser="rules")
        [manifest] = rag.documents()
        assert "title: none" in rag.backends.store.document(rag.scope(), manifest.doc_id).text
        with pytest.raises(InputError, match="Text 1 is empty"):
            rag.add_texts([TIDES, " \n"])


def test_of_many_questions_each_has_its_result_or_its_error() -> None:
    with DiscoRAG(MEMORY) as rag:
        rag.add_texts([TIDES], parser="rules")
        found = rag.batch(["Why does the tide rise?", " "], at_once=2)
        assert [type(f) is AskResult for f in found] == [True, False]
        assert isinstance(rag.batch(["Why?"], corpus="none")[0], EmptyCorpusError)


def test_answers_become_a_row_a_source() -> None:
    with DiscoRAG(MEMORY) as rag:
        rag.add_texts([TIDES], parser="rules")
        answers = [rag.ask(q).answer for q in ("Why does the tide rise?", "Who won the world cup in 2014?")]
    first, *_, last = (row for answer in answers for row in rows(answer))
    assert len(to_pandas(answers)) == 2
    assert (first["sentence"], first["start"]) == (TIDES, 0)
    assert last["refused"]


def test_a_chat_model_that_a_program_brings_writes_the_answer() -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("The moon pulls the sea [1.1].")] * 9))
    with DiscoRAG(MEMORY, llm=model) as rag:
        rag.add_texts([TIDES], parser="rules")
        result = rag.ask("Why does the tide rise?", generator="llm", relater="local", planner="local", layout="plain")
    assert result.answer.text == "The moon pulls the sea."
    [stage] = [s for s in result.ledger.stages if s.stage == "generate"]
    assert (stage.engine, stage.model) == ("llm", "GenericFakeChatModel")


def test_embeddings_that_a_program_brings_find_what_is_asked() -> None:
    with DiscoRAG(MEMORY, embeddings=DeterministicFakeEmbedding(size=16)) as rag:
        rag.add_texts([TIDES], parser="rules")
        assert rag.ask("Why does the tide rise?", retriever="dense").hits
        assert rag.backends.encoder.version == "langchain-DeterministicFakeEmbedding-/16"
