"""Vectors on disk, and the encoders behind them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bench.retrieval.encode import BLOCK, CachedEncoder, open_encoder
from discorag.models.protocol import Encoder
from discorag.text.tokens import TokenCounter
from discorag.types.errors import ConfigError
from discorag.types.vectors import Vectors


class Letters:
    """A token is a character; the window is eight."""

    max_tokens = 8
    special_tokens = 2

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[(i, i + 1) for i in range(len(text))] for text in texts]


class Counting:
    """An encoder that writes down what it is asked for, and fails at the text ``bad``."""

    def __init__(self, version: str = "one") -> None:
        self.version = version
        self.tokens: TokenCounter = Letters()
        self.dimension = 2
        self.asked: list[str] = []

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        if "bad" in texts:
            raise RuntimeError("stopped")
        self.asked += texts
        return np.asarray([(len(text), ord(text[0])) for text in texts], dtype=np.float32)

    async def encode_query(self, text: str) -> Vectors:
        return np.asarray((0, 0), dtype=np.float32)


@pytest.fixture
def counting() -> Counting:
    return Counting()


async def test_a_text_is_encoded_once_even_by_another_process(tmp_path: Path, counting: Counting) -> None:
    with CachedEncoder(counting, tmp_path) as first:
        before = await first.encode_documents(["a", "bb", "a"])
    with CachedEncoder(counting, tmp_path) as second:
        after = await second.encode_documents(["bb", "ccc", "a"])
    assert counting.asked == ["a", "bb", "ccc"]
    assert before.tolist() == [[1, 97], [2, 98], [1, 97]]
    assert after.tolist() == [[2, 98], [3, 99], [1, 97]]
    assert after.dtype == np.float32


async def test_vectors_of_another_version_are_not_taken(tmp_path: Path) -> None:
    for encoder in (Counting("one"), Counting("two")):
        with CachedEncoder(encoder, tmp_path) as cached:
            await cached.encode_documents(["a"])
        assert encoder.asked == ["a"]


async def test_what_was_encoded_before_a_stop_is_kept(tmp_path: Path, counting: Counting) -> None:
    texts = [str(i) for i in range(BLOCK)]
    with CachedEncoder(counting, tmp_path) as cached:
        with pytest.raises(RuntimeError, match="stopped"):
            await cached.encode_documents([*texts, "bad"])
        await cached.encode_documents([*texts, "good"])
    assert counting.asked == [*texts, "good"]


async def test_a_text_longer_than_the_window_is_cut_at_it(tmp_path: Path, counting: Counting) -> None:
    with CachedEncoder(counting, tmp_path) as cached:
        await cached.encode_documents(["123456", "1234567"])
    assert counting.asked == ["123456", "123456"]


async def test_no_texts_give_no_vectors(tmp_path: Path, counting: Counting) -> None:
    with CachedEncoder(counting, tmp_path) as cached:
        assert (await cached.encode_documents([])).shape == (0, 2)


async def test_the_packaged_encoder_gives_the_same_vectors_from_disk(tmp_path: Path, encoder: Encoder) -> None:
    texts = ["Bread is baked.", "The dog barked."]
    for _ in range(2):
        with CachedEncoder(encoder, tmp_path) as cached:
            assert np.array_equal(await cached.encode_documents(texts), await encoder.encode_documents(texts))
            assert (cached.version, cached.dimension) == (encoder.version, 384)


async def test_the_packaged_encoder_takes_long_texts_through_the_cache(tmp_path: Path, encoder: Encoder) -> None:
    with CachedEncoder(encoder, tmp_path) as cached:
        whole, beginning = await cached.encode_documents(["bread " * 400, "bread " * 254])
    assert whole @ beginning == pytest.approx(1, abs=1e-5)


def test_an_encoder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'.*bert' does not exist"):
        open_encoder(str(tmp_path / "bert"), tmp_path)


async def test_minilm_is_opened_by_its_name(tmp_path: Path, encoder: Encoder) -> None:
    with open_encoder("minilm", tmp_path) as opened:
        assert opened.version == encoder.version
