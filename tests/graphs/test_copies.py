"""A document that is stored under two paths is one source with two places, and hides nothing."""

from pathlib import Path
from typing import Any

import pytest

from discorag import DiscoRAG
from tests.conftest import Pipelines

TIDES = "# Tides\n\nThe moon pulls the sea, and so the water rises twice a day.\n"
OTHERS = {
    "bees.md": "# Bees\n\nBees dance to tell where the flowers are.\n",
    "sun.md": "# Sun\n\nThe sun pulls the sea too, less than half as much as the moon does.\n",
    "wind.md": "# Wind\n\nA strong wind piles up the water of the sea along the coast.\n",
}


@pytest.fixture
def copied(tmp_path: Path, pipeline: Pipelines) -> DiscoRAG:
    """Four texts, one of them in two folders that were ingested one after the other."""
    for folder, texts in (("a", {"tides.md": TIDES, **OTHERS}), ("b", {"tides-copy.txt": TIDES})):
        (tmp_path / folder).mkdir()
        for name, text in texts.items():
            (tmp_path / folder / name).write_text(text, "utf-8")
    rag = pipeline()
    for folder in ("a", "b"):
        rag.ingest(tmp_path / folder, parser="none")
    return rag


@pytest.mark.parametrize(
    "switches",
    [
        {"retriever": "hybrid", "top_k": 2},
        {"retriever": "dense", "top_k": 2},
        {"retriever": "all"},
        {"retriever": "snapped", "search_documents": 2, "evidence_words": 60},
        {"retriever": "discourse", "search_documents": 2, "evidence_words": 60},
    ],
    ids=lambda switches: switches["retriever"],
)
def test_a_copy_takes_no_place_of_another_source(copied: DiscoRAG, switches: dict[str, Any]) -> None:
    result = copied.ask("Does the moon pull the sea?", parser="rules", abstain="never", **switches)
    found = copied.backends.store.chunks(copied.scope(), [h.chunk_id for h in result.hits])
    titles = [c.title for c in found]
    assert sum("tides" in title.lower() for title in titles) == 1
    assert len(titles) >= 2


def test_the_answer_names_the_other_place(copied: DiscoRAG) -> None:
    result = copied.ask("What makes the water rise twice a day?", parser="rules")
    [places] = {e.also_in for s in result.answer.sentences for e in s.evidence if e.title == "Tides"}
    assert places == ("tides-copy.txt",)


def test_a_copy_is_found_alone_and_answers_when_the_other_is_gone(copied: DiscoRAG) -> None:
    [copy] = [m for m in copied.documents() if m.uri.endswith("tides-copy.txt")]
    [first] = [m for m in copied.documents() if m.uri.endswith("/tides.md")]
    alone = copied.ask("What pulls the sea?", filters={"doc_id": [copy.doc_id]}, parser="rules")
    assert {e.doc_id for s in alone.answer.sentences for e in s.evidence} == {copy.doc_id}
    copied.delete(first.doc_id)
    left = copied.ask("What makes the water rise twice a day?", parser="rules")
    assert copy.doc_id in {e.doc_id for s in left.answer.sentences for e in s.evidence}
