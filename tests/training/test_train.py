"""Training: it learns, it stops and goes on, and what it writes is what is read.

torch takes seconds to import: the tests do so, and not every process that collects them.
"""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discorag.discourse.parse.trained.decode import decode
from discorag.discourse.parse.trained.network import Cuts, Network, sentences_of
from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.discourse.parse.trained.pieces import layout_of
from discorag.models.packaged import MINILM, packaged_folder
from discorag.schema.errors import ConfigError
from tests.training.gum_corpus import corpus
from training.parser.gum import load_gum

if TYPE_CHECKING:
    from training.parser.train import Run


def prepared() -> Run:
    from training.parser.train import Recipe, prepare_run

    return prepare_run(packaged_folder(MINILM.name), Recipe(warm=2), steps=1)


@pytest.fixture
def run() -> Run:
    import torch

    torch.manual_seed(5)
    return prepared()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """An untrained network, and the folder that it was exported to."""
    import torch

    from training.parser import export

    torch.manual_seed(5)
    run, folder = prepared(), tmp_path_factory.mktemp("parser")
    export.write(run.model.eval(), folder)
    return run, folder


def test_a_few_passes_over_one_document_lower_its_loss(run: Run, tmp_path: Path):
    from training.parser.train import epoch

    documents = load_gum(corpus(tmp_path), "train")
    losses = [epoch(run, documents, 1, tuned=i > 1) for i in range(6)]
    assert losses[-1] < losses[0]


def test_a_stopped_run_is_resumed_where_it_was(run: Run, tmp_path: Path):
    import torch

    from training.parser.train import epoch

    documents = load_gum(corpus(tmp_path), "train")
    epoch(run, documents, 1, tuned=True)
    run.save(tmp_path / "last.pt")
    again = prepared()
    again.load(tmp_path / "last.pt")
    assert again.epoch == 1
    mine, theirs = run.model.trained(), again.model.trained()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert epoch(again, documents, 1, tuned=True) == pytest.approx(epoch(run, documents, 1, tuned=True), rel=1e-2)


def test_one_command_writes_weights_that_load_and_what_they_were_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from training.parser.score import measure
    from training.parser.train import Recipe
    from training.parser.train import main as train

    monkeypatch.setattr("training.parser.train.Recipe", lambda: Recipe(warm=1, epochs=1))
    (tmp_path / "gum").mkdir()
    corpus(tmp_path / "gum")
    train(data=tmp_path, work=tmp_path / "work", out=tmp_path)
    record = json.loads((tmp_path / "record.json").read_text("utf-8"))
    assert [(d["id"], d["licence"]) for d in record["documents"]] == [("GUM_news_tea", "CC BY 2.5")]
    measured = measure(tmp_path, load_gum(tmp_path / "gum", "dev"))
    assert {case: measured[case]["full"] for case in ("gold", "sentence")}.items() <= record["scores"][0].items()


def test_the_exported_network_computes_what_was_trained_but_for_rounding(written: tuple[Run, Path], tmp_path: Path):
    import torch

    from training.parser.model import sentences_of as torch_units_of

    run, folder = written
    [document] = load_gum(corpus(tmp_path), "train")
    network, trained = Network(folder), run.model.network
    pieces = network.pieces(layout_of(document.text))
    tokens = network.tokens(pieces)
    units, torch_units = sentences_of(pieces, document.edus, "edu"), torch_units_of(pieces, document.edus, "edu")
    reading = network.read(tokens, units)
    splits = decode(network, reading, units.levels)
    places = np.array([(d.start, d.mid, d.end) for d in splits]).T
    zeros = np.zeros(len(splits), np.int64)
    cuts = Cuts(places, zeros, zeros)
    with torch.inference_mode():
        torch_tokens = trained.read(run.model.states([pieces]))
        [torch_reading] = trained.read_units(torch_tokens, [torch_units])
        torch_cuts = Cuts(torch.from_numpy(places), torch.from_numpy(zeros), torch.from_numpy(zeros))
        starts = trained.boundaries(torch_tokens, torch.from_numpy(pieces.levels)).sigmoid()
        expected = [
            (torch_tokens, tokens),
            (starts, network.starts(tokens, pieces.levels)),
            (torch_reading.borders, reading.borders),
            (trained.split_scores(torch_reading, torch_cuts), network.split_scores(reading, cuts)),
            (trained.label_logits(torch_reading, torch_cuts), network.label_logits(reading, cuts)),
        ]
    for by_torch, by_onnx in expected:
        assert by_torch.shape == by_onnx.shape
        assert np.abs(by_torch.numpy() - by_onnx).max() < 0.02 * float(by_torch.abs().max())


def test_a_parser_over_another_encoder_reads_that_encoders_file(run: Run, tmp_path: Path):
    from training.parser import export

    encoder, folder = tmp_path / "mini", tmp_path / "parser"
    shutil.copytree(packaged_folder(MINILM.name), encoder)
    export.write(run.model.eval(), folder, str(encoder))
    parser = TrainedParser(folder=folder)
    assert parser.version.startswith("gum-6/mini@")
    assert parser.parse_text("Tides rise. They fall.").splits
    (encoder / "model.safetensors").write_bytes(b"another")
    with pytest.raises(ConfigError, match="not the file that the parser was trained over"):
        Network(folder)
