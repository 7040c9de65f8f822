"""Training: it learns, it stops and goes on, and what it writes is what is read."""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false
from pathlib import Path

import pytest
import torch

from discorag.errors import ConfigError
from discorag.rst.local.evaluate import main as evaluate
from discorag.rst.local.evaluate import right_branching
from discorag.rst.local.gum import load_gum
from discorag.rst.local.score import CASES, score
from discorag.rst.local.tiers import TIERS, Tier, load, restore, save
from discorag.rst.local.train import Rates, Run, epoch, prepared
from tests.rst.gum_corpus import corpus

_TIER: Tier = TIERS["fast"]


@pytest.fixture
def run() -> Run:
    torch.manual_seed(5)
    return prepared(_TIER, steps=1, epochs=4)


def test_a_few_passes_over_one_document_lower_its_loss(run: Run, tmp_path: Path):
    documents = load_gum(corpus(tmp_path), "train")
    losses = [epoch(run, documents, 1, warm=2) for _ in range(6)]
    assert losses[-1] < losses[0]
    assert set(score(run.model, documents)) == set(CASES)


def test_a_stopped_run_goes_on_where_it_was(run: Run, tmp_path: Path):
    documents = load_gum(corpus(tmp_path), "train")
    epoch(run, documents, 1, warm=0)
    run.save(tmp_path / "last.pt")
    again = prepared(_TIER, steps=1, epochs=4)
    again.load(tmp_path / "last.pt")
    assert again.epoch == 1
    mine, theirs = run.model.trained(), again.model.trained()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert epoch(again, documents, 1, warm=0) == pytest.approx(epoch(run, documents, 1, warm=0), rel=1e-2)


def test_weights_are_read_as_they_were_written_but_for_rounding(run: Run, tmp_path: Path):
    save(run.model, tmp_path / "w.safetensors")
    other = prepared(_TIER, steps=1, epochs=1).model
    restore(other, tmp_path / "w.safetensors")
    mine, theirs = run.model.trained(), other.trained()
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        assert torch.allclose(value, theirs[name], atol=float(value.abs().max()) / 100 + 1e-6), name


def test_what_is_not_trained_is_not_written(run: Run):
    assert not any("linear" in name or "embeddings" in name for name in run.model.trained())


def test_missing_weights_say_what_to_do(tmp_path: Path):
    with pytest.raises(ConfigError, match="no weights"):
        load(_TIER, tmp_path / "none.safetensors")


def test_rates_warm_the_heads_first_and_end_at_nothing():
    rates = Rates(warm=100, end=300)
    assert rates.adapters(99) == 0 < rates.adapters(149)
    assert rates.heads(60) > rates.heads(99) > rates.heads(200) > rates.heads(299) > 0
    assert rates.adapters(300) == rates.heads(300) == 0


def test_right_branching_is_measured_beside_the_tiers(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = corpus(tmp_path)
    assert right_branching(load_gum(folder, "dev")).span == 100  # three splits, and two of them right
    evaluate(gum=folder, split="dev", weights=tmp_path, out=tmp_path / "out.json")
    assert "right-branching" in capsys.readouterr().out
    assert (tmp_path / "out.json").exists()
