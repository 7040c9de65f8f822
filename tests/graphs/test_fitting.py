"""``disco-rag fit``: questions in, weights out."""

import json
from pathlib import Path

import numpy as np
import pytest

from discorag.answer.answerable import NAMES, Refusal, kind_of
from discorag.types.errors import InputError, MissingPathError
from graphs.facade import DiscoRAG
from graphs.fitting import Labelled, features, read
from tests.conftest import EXAMPLES, Pipelines


def test_a_line_that_is_no_question_is_named(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "Why?", "answerable": true}\n{"question": "Why?"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"questions\.jsonl:2: Field required"):
        read(file)
    with pytest.raises(MissingPathError):
        read(tmp_path / "none.jsonl")


async def test_what_the_documents_answer_looks_different_from_what_they_do_not(pipeline: Pipelines) -> None:
    rag = pipeline()
    await rag.aingest(EXAMPLES / "tides", parser="rules", retriever="dense")
    asked = [
        Labelled(question="Why do tides rise?", answerable=True),
        Labelled(question="Who won the chess championship?", answerable=False),
    ]
    rows = await features(rag, asked, corpus=None, tenant=None)
    assert rows.shape == (2, len(NAMES))
    assert rows[0, NAMES.index("said")] > rows[1, NAMES.index("said")]
    assert np.isfinite(rows).all()


def test_the_weights_of_ones_own_file_decide(pipeline: Pipelines, tmp_path: Path) -> None:
    rag: DiscoRAG = pipeline()
    rag.ingest(EXAMPLES / "tides", parser="rules", retriever="dense")
    never = Refusal(
        encoder=kind_of(rag.resources.encoder),
        names=NAMES,
        mean=(0.0,) * len(NAMES),
        scale=(1.0,) * len(NAMES),
        weights=(0.0,) * len(NAMES),
        bias=0.0,
        threshold=0.9,
    )
    file = tmp_path / "answerable.json"
    file.write_text(json.dumps([never.model_dump()]), encoding="utf-8")
    assert not rag.ask("Why do tides rise?").answer.abstained
    rag.resources.settings = rag.resources.settings.model_copy(update={"answerable": file})
    refused = rag.ask("Why do tides rise?").answer
    assert refused.answerable == 0.5
    assert "50%" in refused.abstained
