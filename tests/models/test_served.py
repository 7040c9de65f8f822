"""An embedding endpoint as encoder, against a real HTTP server on loopback."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr
from tokenizers import Tokenizer, models, pre_tokenizers

from discorag import DiscoRAG
from discorag.config import EncoderSettings, Settings
from discorag.models.served import ServerEncoder
from discorag.schema.errors import (
    ConfigError,
    ContextTooLongError,
    InvalidOutputError,
    ModelRejectedError,
    ModelUnavailableError,
)
from tests.servers.scripted import Scripted, ScriptedServer, hashed_vector

NAN = '{"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [NaN, 1.0]}]}'
TASK = "Instruct: Find passages that answer the question\nQuery: "


def settings(server: ScriptedServer, **changes: Any) -> EncoderSettings:
    values: dict[str, Any] = {"model": "qwen", "batch_size": 4, "timeout_s": 5.0, "retries": 0} | changes
    return EncoderSettings(base_url=server.base_url, **values)


async def connected(server: ScriptedServer, **changes: Any) -> ServerEncoder:
    return await ServerEncoder.connect(settings(server, **changes))


async def test_texts_are_sent_in_batches_and_their_unit_vectors_come_in_order() -> None:
    texts = [f"text {i}" for i in range(10)]
    with ScriptedServer() as server:
        encoder = await connected(server, api_key=SecretStr("k1"))
        vectors = await encoder.encode_documents(texts)
    assert vectors.shape == (10, encoder.dimension) == (10, 16)
    assert vectors.dtype == np.float32
    expected = np.array([hashed_vector(t) for t in texts])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    batches = [r["input"] for r in server.embedding_requests[1:]]
    assert [len(b) for b in batches] == [4, 4, 2]
    assert [t for b in batches for t in b] == texts
    assert all((r["model"], r["encoding_format"]) == ("qwen", "float") for r in server.embedding_requests)
    assert set(server.authorizations) == {"Bearer k1"}


async def test_queries_and_passages_carry_their_prefixes() -> None:
    with ScriptedServer() as server:
        encoder = await connected(server, query_prefix=TASK, passage_prefix="passage: ")
        query = await encoder.encode_query("why?")
        await encoder.encode_documents(["because"])
    assert query.shape == (16,)
    assert [r["input"] for r in server.embedding_requests[1:]] == [[f"{TASK}why?"], ["passage: because"]]


@pytest.mark.parametrize(
    ("failure", "kind", "said"),
    [
        (Scripted("down", status=503), ModelUnavailableError, "ENCODER__BASE_URL"),
        (Scripted(delay_s=300), ModelUnavailableError, "ENCODER__TIMEOUT_S"),
        (Scripted("no", status=401), ModelRejectedError, "ENCODER__API_KEY"),
        (Scripted("`inputs` must have less than 512 tokens", status=413), ContextTooLongError, "less text"),
        (Scripted(raw=NAN, headers={"Content-Type": "application/json"}), InvalidOutputError, "."),
    ],
)
async def test_failures_are_typed_and_name_the_encoders_own_settings(
    failure: Scripted, kind: type[Exception], said: str
) -> None:
    with ScriptedServer(embed=lambda texts: failure) as server, pytest.raises(kind, match=said):
        await connected(server, timeout_s=0.5)


@pytest.mark.parametrize("vectors", [[[0.0, 0.0]], [[1.0], [2.0]], [[]]])
async def test_vectors_that_cannot_be_used_are_refused(vectors: list[list[float]]) -> None:
    with ScriptedServer(embed=lambda texts: vectors) as server, pytest.raises(InvalidOutputError):
        await connected(server)


async def test_another_dimension_later_is_refused() -> None:
    replies = iter([[[1.0, 0.0]], [[1.0, 0.0, 0.0]]])
    with ScriptedServer(embed=lambda texts: next(replies)) as server:
        encoder = await connected(server)
        with pytest.raises(InvalidOutputError, match="3 dimensions after 2"):
            await encoder.encode_query("x")


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A folder with a tokenizer whose tokens are words."""
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


async def test_a_window_that_is_set_counts_more_than_the_servers(words: Path) -> None:
    with ScriptedServer(model={"max_model_len": 32_768}) as server:
        encoder = await connected(server, tokenizer=str(words / "tokenizer.json"), max_tokens=512)
    assert encoder.tokens.max_tokens == 512


async def test_a_tokenizer_needs_a_window_a_window_needs_a_tokenizer_and_both_must_exist(words: Path) -> None:
    with ScriptedServer() as server:
        with pytest.raises(ConfigError, match="does not say how many tokens 'qwen' reads"):
            await connected(server, tokenizer=str(words))
        with pytest.raises(ConfigError, match="its TOKENIZER is not"):
            await connected(server, max_tokens=512)
        (words / "tokenizer.json").write_text("{}")
        with pytest.raises(ConfigError, match="cannot be loaded"):
            await connected(server, tokenizer=str(words), max_tokens=512)


def test_documents_are_ingested_in_chunks_of_512_tokens_and_cut_anew_by_another_tokenizer(
    words: Path, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text(" ".join(f"Fact number {i} is told." for i in range(300)), encoding="utf-8")
    reading = {"chunk_tokens": 512}
    with ScriptedServer(model={"max_model_len": 2048}) as server:
        given = settings(server, tokenizer=str(words))
        configured = Settings.model_validate(
            {"encoder": given, "reading": reading, "store": {"path": tmp_path / "store"}}
        )
        with DiscoRAG(configured) as rag:
            [first] = rag.ingest(note, parser="rules", retriever="dense").outcomes
            assert rag.ask("Which fact is told?", retriever="dense", engine="local").answer.sentences
        other = given.model_copy(update={"tokenizer": str(words / "tokenizer.json")})
        with DiscoRAG(configured.model_copy(update={"encoder": other})) as rag:
            [again] = rag.ingest(note, parser="rules", retriever="dense").outcomes
    assert (first.chunks, again.status) == (3, "replaced")
