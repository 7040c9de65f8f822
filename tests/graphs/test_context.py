"""The context of a run: what is refused, and whose options a plain call of a graph uses."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from typing import Any

import pytest

from discorag import DiscoRAG
from discorag.config import StoreSettings, read_settings
from discorag.schema.errors import InputError
from graphs.answer import graph
from nodes.context import AnswerContext, IngestContext
from nodes.state import Json
from tests.conftest import EXAMPLES

QUESTION = {"query": "Why are there tides?"}


@pytest.fixture(scope="module")
def rag() -> Any:
    settings = read_settings().model_copy(
        update={"store": StoreSettings(kind="memory"), "answer": {"retriever": "hybrid", "top_k": 2}}
    )
    with DiscoRAG(settings) as rag:
        rag.ingest(EXAMPLES / "tides", parser="rules", retriever="dense")
        yield rag


async def hits(rag: DiscoRAG, **options: Any) -> list[Json]:
    state = await graph.ainvoke(QUESTION, context=AnswerContext(backends=rag.backends, **options), output_keys=["hits"])
    return state["hits"]


async def test_the_settings_are_used_in_a_plain_call_of_the_graph_as_in_the_facade(rag: DiscoRAG) -> None:
    found = [hit["chunk_id"] for hit in await hits(rag)]
    assert found == [hit.chunk_id for hit in (await rag.aask(QUESTION["query"])).hits]
    assert len(found) == 2
    assert len(await hits(rag, top_k=3)) == 3
    assert rag.explain().origins["top_k"] == "settings"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"topk": 3}, r"There is no option 'topk'\. Known options: abstain, .*corpus, .*top_k"),
        ({"profile": "verbatim"}, "Use preset=verbatim or preset=written"),
        ({"preset": "foo"}, "Option preset: Input should be 'auto', 'written', 'verbatim'"),
    ],
)
async def test_a_wrong_field_of_a_context_is_refused_also_in_a_dict(given: Json, said: str) -> None:
    with pytest.raises(InputError, match=said):
        AnswerContext(**given)
    with pytest.raises(InputError, match=said):
        await graph.ainvoke(QUESTION, context=given)  # pyright: ignore[reportArgumentType]


def test_the_form_of_studio_lists_the_options_and_not_what_the_server_sets() -> None:
    for kind in (AnswerContext, IngestContext):
        form = kind.model_json_schema()["properties"]
        assert set(form) == kind.model_fields.keys() - {"backends", "uri"}
