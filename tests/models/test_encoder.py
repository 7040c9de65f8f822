"""Encoders in this process, with real weights and no network: packaged, from a folder, remembered."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discorag.config import EncoderSettings, Settings
from discorag.models.encoder import PackagedEncoder, encoder_from
from discorag.models.memo import QUESTIONS, MemoEncoder
from discorag.models.packaged import MINILM, packaged_folder
from discorag.models.protocol import Encoder
from discorag.models.sentence_encoder import SentenceEncoder
from discorag.schema.errors import ConfigError, InvariantError
from discorag.schema.values import Vectors


@pytest.fixture(scope="module")
def encoder() -> PackagedEncoder:
    return PackagedEncoder()


async def test_text_of_exactly_the_window_is_seen_whole_and_a_longer_one_is_refused(encoder: PackagedEncoder) -> None:
    fits = "word " * 253
    ends = await encoder.encode_documents([fits + "happy", fits + "nuclear"])
    assert not np.allclose(ends[0], ends[1], atol=1e-3)  # the last token counts
    with pytest.raises(InvariantError, match=r"Text 1 has 257 tokens.* 256"):
        await encoder.encode_documents(["fine", fits + "too long"])


async def configured(**values: str) -> Encoder:
    return await encoder_from(Settings(encoder=EncoderSettings.model_validate(values)))


async def test_prefixes_are_put_before_texts_and_told_by_the_version(encoder: PackagedEncoder) -> None:
    made = await configured(query_prefix="query: ", passage_prefix="passage: ")
    assert isinstance(made, PackagedEncoder)
    assert np.array_equal(await made.encode_query("bread"), await encoder.encode_query("query: bread"))
    many = [f"Text number {i}." for i in range(40)]
    expected = await encoder.encode_documents([f"passage: {text}" for text in many])
    assert np.allclose(await made.encode_documents(many), expected, atol=1e-5)
    assert np.allclose((await made.encode_documents(many[:1]))[0], expected[0], atol=1e-5)
    assert made.tokens.max_tokens == 256 - 2
    other = await configured(query_prefix="query: ")
    assert len({encoder.version, made.version, other.version}) == 3


async def test_an_unknown_packaged_encoder_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no packaged encoder 'acme'.*all-MiniLM-L6-v2"):
        await configured(kind="packaged", model="acme")


async def test_vectors_and_counts_are_those_of_the_models_own_library(encoder: PackagedEncoder) -> None:
    from sentence_transformers import SentenceTransformer  # takes seconds

    model: Any = SentenceTransformer(str(packaged_folder(MINILM.name)), local_files_only=True)
    texts = ["Why?", "Why not?", "Naïve 😀 世界 ends.", "  spaced\n\nout  ", "x" * 200, "word " * 254]
    assert encoder.tokens.counts(texts) == [len(model.tokenizer(t)["input_ids"]) for t in texts]
    expected = model.encode(texts, normalize_embeddings=True)
    assert np.abs(await encoder.encode_documents(texts) - expected).max() < 1e-5


TEXTS = ["Bread is baked in an oven.", "The dog chased the cat up a tree."]


@pytest.fixture(scope="module")
def opened() -> SentenceEncoder:
    return SentenceEncoder(EncoderSettings(model=str(packaged_folder(MINILM.name))))


def copied(folder: Path, **config: object) -> str:
    """MiniLM in a folder of its own, with another configuration of sentence-transformers."""
    for file in (f for f in packaged_folder(MINILM.name).rglob("*") if f.is_file()):
        target = folder / file.relative_to(packaged_folder(MINILM.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(file)
    file = folder / "config_sentence_transformers.json"
    old = json.loads(file.read_text("utf-8"))
    file.unlink()
    file.write_text(json.dumps(old | config), "utf-8")
    return str(folder)


async def test_a_folder_gives_its_models_vectors_and_tokens(encoder: PackagedEncoder, opened: SentenceEncoder) -> None:
    assert np.allclose(await opened.encode_documents(TEXTS), await encoder.encode_documents(TEXTS), atol=1e-6)
    assert np.allclose(await opened.encode_query("bread?"), await encoder.encode_query("bread?"), atol=1e-6)
    assert (await opened.encode_documents([])).shape == (0, opened.dimension) == (0, 384)
    assert opened.tokens.token_offsets(TEXTS) == encoder.tokens.token_offsets(TEXTS)
    assert opened.tokens.max_tokens == 256


@pytest.mark.parametrize(("configured", "sent", "tokens"), [("", "search for: ", 3), ("Query: ", "Query: ", 2)])
async def test_a_models_own_prompts_are_put_before_texts_where_no_prefix_is_configured(
    tmp_path: Path, encoder: PackagedEncoder, configured: str, sent: str, tokens: int
) -> None:
    prompts = {"query": "search for: ", "document": "passage: "}
    model = copied(tmp_path / "e5", prompts=prompts)
    made = await encoder_from(Settings(encoder=EncoderSettings(model=model, query_prefix=configured)))
    expected = await encoder.encode_query(f"{sent}bread")
    assert np.allclose(await made.encode_query("bread"), expected, atol=1e-6)
    [vector] = await made.encode_documents(["bread"])
    assert np.allclose(vector, await encoder.encode_query("passage: bread"), atol=1e-6)
    assert made.tokens.max_tokens == 256 - tokens


def test_the_version_tells_models_and_prefixes_apart(tmp_path: Path, opened: SentenceEncoder) -> None:
    folder = str(packaged_folder(MINILM.name))
    assert opened.version.startswith(f"{packaged_folder(MINILM.name).name}@")
    assert SentenceEncoder(EncoderSettings(model=folder)).version == opened.version
    versions = {opened.version, SentenceEncoder(EncoderSettings(model=folder, query_prefix="find: ")).version}
    assert len(versions) == 2
    copies = [copied(tmp_path / place / "mini", note=note) for place, note in (("a", 1), ("b", 2), ("c", 2))]
    first, other, same = (SentenceEncoder(EncoderSettings(model=name)).version for name in copies)
    assert first != other == same


class Counted(MemoEncoder):
    """Counts what it is asked for."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder)
        self.asked: list[str] = []

    async def encode_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return np.ones(self.dimension, np.float32)


async def test_a_question_is_encoded_once_for_all_stages_and_forgotten_after_others(encoder: Encoder) -> None:
    counted = Counted(encoder)
    remembering = MemoEncoder(counted)
    for _ in range(4):
        await remembering.encode_query("Why?")
    assert counted.asked == ["Why?"]
    for number in range(QUESTIONS):
        await remembering.encode_query(str(number))
    await remembering.encode_query("Why?")
    assert counted.asked.count("Why?") == 2
