"""BERTScore on the packaged encoder; SummaC's arithmetic by hand and its plumbing on a tiny model."""

import importlib
import json
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from discorag.models import packaged
from discorag.models.packaged import packaged_folder
from eval.errors import MetricUnavailableError
from eval.metrics.base import Given
from eval.metrics.model_based import BertScore, Nli, SummacConv, SummacZs, zero_shot
from tests.eval.metrics.givens import given

MINILM = packaged_folder(packaged.MINILM.name)
SOURCE = "The whale sang all night. Nobody on the ship could sleep. The captain wrote it down."


def answered(answer: str, *references: str, source: str | None = SOURCE) -> Given:
    return given(answer, source=source, references=references)


@pytest.fixture(scope="module")
def bertscore() -> BertScore:
    return BertScore(MINILM)


async def test_bertscore_takes_the_best_reference_and_ranks_a_paraphrase_above_another_topic(
    bertscore: BertScore,
) -> None:
    near, far = "A whale was singing through the night.", "Tax rates rose in May."
    apart = [await bertscore.score(answered("The whale sang all night.", r)) for r in (far, near)]
    both = await bertscore.score(answered("The whale sang all night.", far, near, " "))
    assert apart[0] is not None
    assert apart[1] is not None
    assert apart[0] + 20 < apart[1] < 100
    assert both == pytest.approx(apart[1], abs=1e-3)


async def test_bertscore_is_the_f1_of_greedy_cosine_matching(bertscore: BertScore) -> None:
    """Zhang et al. 2020, section 3, on last-layer vectors; [CLS] and [SEP] may be matched, but have no weight."""
    from sentence_transformers import SentenceTransformer

    answer, reference = "a whale sings", "whales sang at night"
    encoder: Any = SentenceTransformer(str(MINILM), local_files_only=True)
    found = encoder.encode([answer, reference], output_value="token_embeddings", show_progress_bar=False)
    first, second = (np.asarray(v) / np.linalg.norm(np.asarray(v), axis=1, keepdims=True) for v in found)
    cosine = first @ second.T
    precision, recall = cosine.max(axis=1)[1:-1].mean(), cosine.max(axis=0)[1:-1].mean()
    expected = 100 * 2 * precision * recall / (precision + recall)
    assert await bertscore.score(answered(answer, reference)) == pytest.approx(expected, abs=1e-3)


async def test_bertscore_cuts_long_answers_gives_empty_ones_zero_and_needs_a_reference(bertscore: BertScore) -> None:
    assert await bertscore.score(answered("whale song " * 900, "whale song")) is not None
    assert await bertscore.score(answered(" ", "x")) == 0
    assert await bertscore.score(answered("x")) is None


@pytest.mark.parametrize(("metric", "option"), [(BertScore, "--bertscore"), (SummacZs, "--summac")])
def test_missing_model_folder_names_the_option(metric: Any, option: str, tmp_path: Path) -> None:
    with pytest.raises(MetricUnavailableError, match=option):
        metric(None)
    with pytest.raises(MetricUnavailableError, match=rf"no config\.json.*{option}"):
        metric(tmp_path)


def test_zero_shot_is_the_mean_over_answer_sentences_of_the_best_source_sentence() -> None:
    entailment = np.array([[0.9, 0.1], [0.2, 0.4], [0.3, 0.0]])
    # answer sentence 1: max(.9, .2, .3) = .9; sentence 2: max(.1, .4, 0) = .4; mean .65
    assert zero_shot(entailment) == pytest.approx(65)


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random BERT classifier over MiniLM's vocabulary, entailment being label 1."""
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")
    folder = tmp_path_factory.mktemp("nli")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((MINILM / name).read_bytes())
    config = transformers.BertConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=1.0,
        id2label={0: "CONTRADICTION", 1: "Entailment", 2: "NEUTRAL"},
        label2id={"CONTRADICTION": 0, "Entailment": 1, "NEUTRAL": 2},
    )
    torch.manual_seed(0)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


async def test_summac_scores_the_answers_sentences_against_the_documents_sentences(nli: Path) -> None:
    answer = "The whale sang. Sleep was hard to find."
    source = ["The whale sang all night.", "Nobody on the ship could sleep.", "The captain wrote it down."]
    expected = zero_shot(Nli(nli)(source, ["The whale sang.", "Sleep was hard to find."]))
    assert await SummacZs(nli).score(answered(answer)) == pytest.approx(expected, abs=1e-3)


async def test_summac_leaves_out_short_sentences_cuts_long_pairs_and_needs_a_source(nli: Path) -> None:
    metric = SummacZs(nli)
    assert await metric.score(answered("It is so.\n\nThe whale sang.")) == pytest.approx(
        await metric.score(answered("The whale sang."))
    )
    assert await SummacZs(nli).score(answered("No.")) == 0
    assert await SummacZs(nli).score(answered("The whale sang.", source=None)) is None
    assert await SummacZs(nli).score(answered("the whale sang " * 500)) is not None


def test_model_without_an_entailment_label_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"label2id": {"LABEL_0": 0}}), encoding="utf-8")
    with pytest.raises(MetricUnavailableError, match=r"'entailment', only \['LABEL_0'\]"):
        SummacZs(tmp_path)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where to write a stand-in for the third-party package ``summac``, which fetches its models from the network."""
    folder = tmp_path / "summac"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (tmp_path / "torch.py").write_text("class cuda:\n    is_available = staticmethod(lambda: False)\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return folder / "model_summac.py"


async def test_summac_conv_asks_the_authors_package_with_scinews_settings(package: Path) -> None:
    package.write_text(
        dedent("""
        class SummaCConv:
            def __init__(self, **settings):
                print("Loading ...")
                assert settings == {
                    "models": ["vitc"], "bins": "percentile", "granularity": "sentence", "nli_labels": "e",
                    "device": "cpu", "start_file": "default", "agg": "mean",
                }

            def score(self, sources, summaries):
                answered = summaries == ["An answer."] and sources[0].startswith("The whale sang all night.")
                return {"scores": [0.25 if answered else 0.0]}
        """),
        encoding="utf-8",
    )
    metric = SummacConv(Path(sys.executable))
    assert await metric.score(answered("An answer.")) == 25
    assert await metric.score(answered("")) == 0
    assert await metric.score(answered("An answer.", source=None)) is None


def test_summac_conv_that_cannot_get_its_models_is_unavailable_before_the_first_answer(package: Path) -> None:
    package.write_text("class SummaCConv:\n    def __init__(self, **_):\n        raise OSError('no model')\n", "utf-8")
    with pytest.raises(MetricUnavailableError, match=r"SummaC-Conv ended"):
        SummacConv(Path(sys.executable))


def test_summac_conv_without_its_environment_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(MetricUnavailableError, match=r"no environment"):
        SummacConv(tmp_path / "python")
