"""Models of inference: classifiers from a folder, and which column a label belongs to."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from discorag.models.nli import NliModel
from discorag.models.packaged import MS_MARCO_MINILM, packaged_folder
from discorag.schema.errors import ConfigError
from tests.models.test_reranker import cross_encoder

PAIRS = [("Tides rise.", "The tide rises."), ("Bees dance.", "The tide rises."), ("a", "b")]


def labelled(folder: Path, *labels: str) -> str:
    """A tiny classifier with these labels."""
    cross_encoder(folder, labels=len(labels))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config |= {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return os.fspath(folder)


async def test_labels_are_put_into_their_columns_whatever_their_order(tmp_path: Path) -> None:
    first = NliModel(labelled(tmp_path / "a", "contradiction", "neutral", "entailment"))
    other = NliModel(labelled(tmp_path / "b", "Entailment", "Neutral", "Contradiction"))
    found, mirrored = await first.probabilities(PAIRS), await other.probabilities(PAIRS)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-6)
    assert np.allclose(found, mirrored[:, ::-1], atol=1e-5)
    assert first.version.startswith("a@")
    assert first.version != other.version


async def test_what_is_not_entailed_is_neutral_where_nothing_else_is_said(tmp_path: Path) -> None:
    two = NliModel(labelled(tmp_path / "two", "entailment", "not_entailment"))
    one = NliModel(os.fspath(cross_encoder(tmp_path / "one", labels=1, bias=30.0)))
    assert (await two.probabilities(PAIRS))[:, 2].tolist() == [0, 0, 0]
    assert (await one.probabilities(PAIRS[:1])).tolist() == [[1, 0, 0]]
    assert (await one.probabilities([])).shape == (0, 3)


async def test_a_classifier_without_a_label_of_entailment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not exactly one of them says entailment"):
        await NliModel(os.fspath(cross_encoder(tmp_path, labels=2))).probabilities(PAIRS)


async def test_an_onnx_folder_says_in_which_order_its_model_reads_a_pair(tmp_path: Path) -> None:
    premise, hypothesis = "The moon pulls the sea.", "Why do tides rise?"
    found: list[float] = []
    ways = ((False, (hypothesis, premise)), (True, (premise, hypothesis)), (False, (premise, hypothesis)))
    for i, (hypothesis_first, pair) in enumerate(ways):
        folder = tmp_path / str(i)
        folder.mkdir()
        for name in MS_MARCO_MINILM.files:
            (folder / name).symlink_to(packaged_folder(MS_MARCO_MINILM.name) / name)
        config = {"id2label": {"0": "entailment"}, "hypothesis_first": hypothesis_first, "temperature": 4.0}
        (folder / "config.json").write_text(json.dumps(config))
        found.append(float((await NliModel(str(folder)).probabilities([pair]))[0, 0]))
    assert found[0] == found[1] != found[2]
