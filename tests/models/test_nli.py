"""Models of inference: a server on loopback, classifiers from a folder, and which column a label belongs to."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discorag.config import NliSettings
from discorag.models.nli import CrossEncoderNli, nli_from
from discorag.models.packaged import MS_MARCO_MINILM, packaged_folder
from discorag.models.served import ServerNli
from discorag.schema.errors import ConfigError, InvalidOutputError, UnknownNameError
from tests.models.test_reranker import Served, cross_encoder

PAIRS = [("Tides rise.", "The tide rises."), ("Bees dance.", "The tide rises."), ("a", "b")]


def labelled(folder: Path, *labels: str) -> str:
    """A tiny classifier with these labels."""
    cross_encoder(folder, labels=len(labels))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config |= {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return os.fspath(folder)


async def test_a_served_model_is_asked_for_pairs_in_batches() -> None:
    row = [{"label": "CONTRADICTION", "score": 0.25}, {"label": "ENTAILMENT", "score": 0.5}]
    with Served(lambda body: [row] * len(body["inputs"])) as seen:
        model = ServerNli(NliSettings(base_url=seen.url, batch_size=2, model="judge"))
        assert (await model.probabilities(PAIRS)).tolist() == [[0.5, 0.25, 0.25]] * 3
        assert (await model.probabilities([])).shape == (0, 3)
    assert model.version == "judge@server"
    assert seen.paths == ["predict"] * 2
    assert [body["inputs"] for body in seen.bodies] == [[list(p) for p in PAIRS[:2]], [list(PAIRS[2])]]


@pytest.mark.parametrize(
    "answer",
    [[[{"label": "LABEL_0", "score": 0.7}]], [], {"error": "no"}],
    ids=["no entailment", "no pairs", "no list"],
)
async def test_a_server_without_labels_of_entailment_fails(answer: Any) -> None:
    with Served(lambda _: answer) as seen, pytest.raises(InvalidOutputError, match="entailment"):
        await ServerNli(NliSettings(base_url=seen.url)).probabilities([("a", "b")])


async def test_labels_are_put_into_their_columns_whatever_their_order(tmp_path: Path) -> None:
    first = CrossEncoderNli(labelled(tmp_path / "a", "contradiction", "neutral", "entailment"), batch_size=2)
    other = CrossEncoderNli(labelled(tmp_path / "b", "Entailment", "Neutral", "Contradiction"))
    found, mirrored = await first.probabilities(PAIRS), await other.probabilities(PAIRS)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-6)
    assert np.allclose(found, mirrored[:, ::-1], atol=1e-5)
    assert first.version.startswith("a@")
    assert first.version != other.version


async def test_what_is_not_entailed_is_neutral_where_nothing_else_is_said(tmp_path: Path) -> None:
    two = CrossEncoderNli(labelled(tmp_path / "two", "entailment", "not_entailment"))
    one = CrossEncoderNli(os.fspath(cross_encoder(tmp_path / "one", labels=1, bias=30.0)))
    assert (await two.probabilities(PAIRS))[:, 2].tolist() == [0, 0, 0]
    assert (await one.probabilities(PAIRS[:1])).tolist() == [[1, 0, 0]]
    assert (await one.probabilities([])).shape == (0, 3)


async def test_a_classifier_without_a_label_of_entailment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="none of which says entailment"):
        await CrossEncoderNli(os.fspath(cross_encoder(tmp_path, labels=2))).probabilities(PAIRS)


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
        found.append(float((await CrossEncoderNli(str(folder)).probabilities([pair]))[0, 0]))
    assert found[0] == found[1] != found[2]


def test_there_is_none_by_default() -> None:
    assert nli_from(NliSettings()) is None
    with pytest.raises(UnknownNameError, match="Known names: cross-encoder, endpoint"):
        nli_from(NliSettings(kind="oracle"))
    for kind in ("cross-encoder", "endpoint"):
        with pytest.raises(ConfigError, match="is named"):
            nli_from(NliSettings(kind=kind))
