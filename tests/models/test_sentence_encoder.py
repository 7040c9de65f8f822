"""A model by its folder or hub name: the packaged MiniLM's files stand for any."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from discorag.config import EncoderSettings, Settings
from discorag.models.encoder import PackagedEncoder, encoder_from
from discorag.models.packaged import MINILM, packaged_folder
from discorag.models.protocol import Encoder
from discorag.models.sentence_encoder import SentenceEncoder

TEXTS = ["Bread is baked in an oven.", "The dog chased the cat up a tree."]


@pytest.fixture(scope="module")
def packaged() -> PackagedEncoder:
    return PackagedEncoder()


@pytest.fixture(scope="module")
def opened() -> SentenceEncoder:
    return SentenceEncoder.open(EncoderSettings(model=str(packaged_folder(MINILM.name))))


def copied(folder: Path, **config: object) -> str:
    """MiniLM in a folder of its own, with another configuration of sentence-transformers."""
    linked(folder)
    file = folder / "config_sentence_transformers.json"
    old = json.loads(file.read_text("utf-8"))
    file.unlink()
    file.write_text(json.dumps(old | config), "utf-8")
    return str(folder)


def linked(folder: Path) -> None:
    for file in (f for f in packaged_folder(MINILM.name).rglob("*") if f.is_file()):
        target = folder / file.relative_to(packaged_folder(MINILM.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(file)


async def test_a_folder_gives_its_models_vectors_and_tokens(packaged: Encoder, opened: SentenceEncoder) -> None:
    assert np.allclose(await opened.encode_documents(TEXTS), await packaged.encode_documents(TEXTS), atol=1e-6)
    assert np.allclose(await opened.encode_query("bread?"), await packaged.encode_query("bread?"), atol=1e-6)
    assert (await opened.encode_documents([])).shape == (0, opened.dimension) == (0, 384)
    assert opened.tokens.token_offsets(TEXTS) == packaged.tokens.token_offsets(TEXTS)
    assert opened.tokens.max_tokens == 256


async def test_a_models_own_prompts_are_put_before_texts(tmp_path: Path, packaged: Encoder) -> None:
    prompts = {"query": "search for: ", "document": "passage: "}
    made = await encoder_from(Settings(encoder=EncoderSettings(model=copied(tmp_path / "e5", prompts=prompts))))
    assert np.allclose(await made.encode_query("bread"), await packaged.encode_query("search for: bread"), atol=1e-6)
    [vector] = await made.encode_documents(["bread"])
    assert np.allclose(vector, await packaged.encode_query("passage: bread"), atol=1e-6)
    assert made.tokens.max_tokens == 256 - 3


async def test_a_configured_prefix_replaces_the_models_own(tmp_path: Path, packaged: Encoder) -> None:
    prompts = {"query": "search for: ", "document": "passage: "}
    settings = EncoderSettings(
        model=copied(tmp_path / "e5", prompts=prompts), query_prefix="Instruct: find bread\nQuery: "
    )
    made = SentenceEncoder.open(settings)
    expected = await packaged.encode_query("Instruct: find bread\nQuery: oven")
    assert np.allclose(await made.encode_query("oven"), expected, atol=1e-6)
    [vector] = await made.encode_documents(["bread"])
    assert np.allclose(vector, await packaged.encode_query("passage: bread"), atol=1e-6)
    assert made.tokens.max_tokens == 256 - 7


def test_the_version_tells_models_and_prefixes_apart(tmp_path: Path, opened: SentenceEncoder) -> None:
    folder = str(packaged_folder(MINILM.name))
    assert opened.version.startswith(f"{packaged_folder(MINILM.name).name}@")
    assert SentenceEncoder.open(EncoderSettings(model=folder)).version == opened.version
    versions = {
        opened.version,
        SentenceEncoder.open(EncoderSettings(model=folder, query_prefix="find: ")).version,
    }
    assert len(versions) == 2
    copies = [copied(tmp_path / place / "mini", note=note) for place, note in (("a", 1), ("b", 2), ("c", 2))]
    first, other, same = (SentenceEncoder.open(EncoderSettings(model=name)).version for name in copies)
    assert first != other == same
