"""The cross-encoder by ONNX Runtime: which tokens of a pair it reads, threads, files that are no model."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from discorag.models.cross_encoder import OnnxCrossEncoder, is_onnx_folder
from discorag.models.packaged import MS_MARCO_MINILM, packaged_folder
from discorag.schema.errors import ConfigError

FOLDER = packaged_folder(MS_MARCO_MINILM.name)
LONG = "The moon pulls the sea. " * 30


@pytest.fixture(scope="module")
def model() -> OnnxCrossEncoder:
    return OnnxCrossEncoder(FOLDER, max_tokens=64)


def test_a_long_text_is_cut_as_the_tokenizers_own_truncation_cuts_it(model: OnnxCrossEncoder) -> None:
    tokenizer: Any = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(64, strategy="only_second")
    pairs = [("Why do tides rise?", LONG), ("Why do tides rise?", "Bees dance."), ("", "")]
    for mine, (first, second) in zip(model._encode(pairs), pairs, strict=True):
        theirs = tokenizer.encode(first, second)
        assert (mine.ids, mine.type_ids) == (theirs.ids, theirs.type_ids)


def test_a_premise_is_cut_and_its_hypothesis_is_not() -> None:
    [encoding] = OnnxCrossEncoder(FOLDER, max_tokens=64, cut="first")._encode([(LONG, "The sea is pulled.")])
    assert encoding.tokens[-6:] == ["the", "sea", "is", "pulled", ".", "[SEP]"]
    assert len(encoding.ids) == 64


def test_threads_share_a_model(model: OnnxCrossEncoder) -> None:
    pairs = [("Why do tides rise?", f"The moon pulls {n} seas.") for n in range(12)]
    expected = model.logits(pairs)
    assert expected.shape == (12, 1)
    assert expected.dtype == np.float32
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(model.logits, [[pair] for pair in pairs]))
    assert np.array_equal(np.concatenate(found), expected)


def test_a_folder_without_a_model_is_a_configuration_error(tmp_path: Path) -> None:
    assert not is_onnx_folder(tmp_path)
    with pytest.raises(ConfigError, match="cannot be loaded"):
        OnnxCrossEncoder(tmp_path).logits([("Why?", "Tides rise.")])
    (tmp_path / "tokenizer.json").write_bytes((FOLDER / "tokenizer.json").read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    assert is_onnx_folder(tmp_path)
    with pytest.raises(ConfigError, match=r"model\.onnx"):
        OnnxCrossEncoder(tmp_path).logits([("Why?", "Tides rise.")])
