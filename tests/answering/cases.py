"""Passages, replies and readers that the tests of this folder share."""

import json
from collections.abc import Sequence
from typing import Any

from discorag.answering.reader import ReaderModel
from discorag.config import LlmSettings
from discorag.models.gateway import Gateway
from discorag.models.tokens import PackagedTokens
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from tests.servers.scripted import ScriptedServer

TEXTS = (
    "In the VITAL trial of 2018, vitamin D did not lower the risk of cancer.",
    "A review of 2014 found that vitamin D lowered the risk of cancer by 13 %.",
    "Among adults over 60, the effect was not measured.",
)


def chunk(text: str, number: int = 1, *, start: int = 0, **more: Any) -> Chunk:
    span = Span(start=start, end=start + len(text))
    values: dict[str, Any] = {
        "id": f"c{number}",
        "doc_id": f"d{number}",
        "order": number,
        "span": span,
        "sentences": (span,),
    } | more
    return Chunk(text=text, **values)


def inputs_over(texts: Sequence[str] = TEXTS, query: str = "Does vitamin D prevent cancer?") -> AnswerInputs:
    return AnswerInputs(query=query, chunks=tuple(chunk(text, i) for i, text in enumerate(texts, start=1)))


def reply(**changes: Any) -> dict[str, Any]:
    """What a good model writes on `TEXTS`."""
    return {
        "statements": [
            statement(1, "Vitamin D did not lower the risk of cancer in VITAL (2018).", 1, "did not lower the risk"),
            statement(2, "A review of 2014 found a risk lower by 13 %.", 2, "lowered the risk of cancer by 13 %"),
            statement(3, "For adults over 60 nothing was measured.", 3, "the effect was not measured"),
        ],
        "relations": [{"from": 2, "relation": "CONTRADICTS", "to": 1, "about": "the effect"}],
        "order": [[1], [2, 3]],
        "missing": "",
    } | changes


def statement(number: int, says: str, passage: int, text: str, role: str = "answers") -> dict[str, Any]:
    return {"id": number, "says": says, "role": role, "quotations": [{"passage": passage, "text": text}]}


def written(**changes: Any) -> str:
    return json.dumps(reply(**changes), ensure_ascii=False)


def reader_of(server: ScriptedServer, **changes: Any) -> ReaderModel:
    settings: dict[str, Any] = {"cache": None, "model": "scripted", "retries": 0, "timeout_s": 20.0} | changes
    return ReaderModel(model=Gateway(LlmSettings(base_url=server.base_url, **settings)), counter=PackagedTokens())
