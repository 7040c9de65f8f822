"""Our clients of embeddings and reranking against a real vLLM that serves the packaged MiniLM."""

import numpy as np
import pytest

from discorag.config import EncoderSettings, RerankerSettings
from discorag.models.encoder import PackagedEncoder
from discorag.models.served import ServerEncoder, ServerReranker
from discorag.schema.errors import ContextTooLongError
from tests.conftest import EXAMPLES
from tests.vllm.server import VllmServer

QUESTION = "Why are some tides higher than others?"
TEXTS = [
    text
    for path in sorted(EXAMPLES.glob("[!_]*/*"))
    for text in path.read_text(encoding="utf-8").split("\n\n")
    if 40 < len(text) < 600
][:40]


def settings_of(server: VllmServer) -> EncoderSettings:
    return EncoderSettings(base_url=server.base_url, model=server.name, batch_size=8, retries=0)


async def test_embeddings_are_the_packaged_encoders(pooling: VllmServer) -> None:
    ours, served = PackagedEncoder(), await ServerEncoder.connect(settings_of(pooling))
    assert served.dimension == ours.dimension
    cosines = (await served.encode_documents(TEXTS) * await ours.encode_documents(TEXTS)).sum(axis=1)
    assert cosines.min() > 0.999
    assert float(await served.encode_query(QUESTION) @ await ours.encode_query(QUESTION)) > 0.999


async def test_a_text_beyond_the_window_is_too_long(pooling: VllmServer) -> None:
    served = await ServerEncoder.connect(settings_of(pooling))
    with pytest.raises(ContextTooLongError):
        await served.encode_documents(["bees dance " * 300])


async def test_reranking_gives_each_text_its_score(pooling: VllmServer) -> None:
    made = ServerReranker(RerankerSettings(base_url=pooling.base_url, model=pooling.name, retries=0))
    scores = await made.scores(QUESTION, TEXTS)
    ours = PackagedEncoder()
    # A model that only embeds is served as a reranker by cosine.
    expected = await ours.encode_documents(TEXTS) @ await ours.encode_query(QUESTION)
    np.testing.assert_allclose(scores, expected, atol=1e-3)
