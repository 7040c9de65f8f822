"""Training: it learns, it stops and goes on, and what it writes is what is read."""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from discorag.rst.gum_labels import CLASSES, RELATIONS, class_of_relation
from discorag.rst.parser import ParsedTree
from discorag.rst.trained.network import Sizes
from discorag.rst.trained.tiers import TIERS, Tier, load, restore, save
from discorag.types.chunk import Chunk
from discorag.types.errors import ConfigError, InvalidOutputError
from discorag.types.rst_relations import Relation
from discorag.types.rst_tree import Split, from_splits
from tests.training.gum_corpus import corpus
from training.parser.calibration import calibrate
from training.parser.evaluate import main as evaluate
from training.parser.evaluate import right_branching
from training.parser.gum import GumDocument, load_gum
from training.parser.oracle import possible, reliability
from training.parser.parseval import Node
from training.parser.prompted import score_prompted, whole_documents
from training.parser.record import Record, sources
from training.parser.score import CASES, score
from training.parser.silver import told
from training.parser.train import Rates, Run, epoch, prepared
from training.parser.train import main as train

_TIER: Tier = TIERS["fast"]


@pytest.fixture
def run() -> Run:
    torch.manual_seed(5)
    return prepared(replace(_TIER, warm=2), steps=1)


def test_a_few_passes_over_one_document_lower_its_loss(run: Run, tmp_path: Path):
    documents = load_gum(corpus(tmp_path), "train")
    losses = [epoch(run, documents, 1, tuned=i > 1) for i in range(6)]
    assert losses[-1] < losses[0]
    assert set(score(run.model, documents)) == set(CASES)


def test_a_text_as_a_tier_reads_it_is_a_document_to_learn_from(run: Run, tmp_path: Path):
    [gold] = load_gum(corpus(tmp_path), "train")
    found = told(run.model.eval(), "PLOS_0_0", gold.text)
    assert "".join("".join(e.of(gold.text) for e in found.edus).split()) == "".join(gold.text.split())
    assert len({(s.start, s.end) for s in found.splits}) == len(found.edus) - 1
    assert sources([found])[0].licence == "CC BY or CC0"
    assert epoch(run, [gold], 1, tuned=False, silver=[found]) > 0


def test_a_stopped_run_goes_on_where_it_was(run: Run, tmp_path: Path):
    documents = load_gum(corpus(tmp_path), "train")
    epoch(run, documents, 1, tuned=True)
    run.save(tmp_path / "last.pt")
    again = prepared(replace(_TIER, warm=2), steps=1)
    again.load(tmp_path / "last.pt")
    assert again.epoch == 1
    mine, theirs = run.model.trained(), again.model.trained()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert epoch(again, documents, 1, tuned=True) == pytest.approx(epoch(run, documents, 1, tuned=True), rel=1e-2)


def test_one_command_writes_weights_that_load_and_what_they_were_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("training.parser.train.TIERS", {"fast": replace(_TIER, warm=1, epochs=1)})
    (tmp_path / "gum").mkdir()
    corpus(tmp_path / "gum")
    train("fast", data=tmp_path, work=tmp_path / "work", out=tmp_path)
    record = Record.model_validate_json((tmp_path / "fast.json").read_text(encoding="utf-8"))
    assert [(d.id, d.licence) for d in record.documents] == [("GUM_news_tea", "CC BY 2.5")]
    assert record.free
    assert load(_TIER, tmp_path / "fast.safetensors")
    evaluate(gum=tmp_path / "gum", weights=tmp_path, out=tmp_path / "scores.json")
    assert json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))["fast"]["free"] is True


def test_what_is_measured_is_the_mean_of_the_weights(run: Run, tmp_path: Path):
    epoch(run, load_gum(corpus(tmp_path), "train"), 1, tuned=False)
    last = run.model.network.score.weight.clone()
    with run.averaged() as model:
        assert not torch.equal(model.network.score.weight, last)
    assert torch.equal(run.model.network.score.weight, last)


def test_a_fitted_confidence_keeps_the_order_and_is_read_as_it_was_written(run: Run, tmp_path: Path):
    assert run.model.confidence(0.7) == 0.7
    run.model.sure = (0.5, -1.25)
    assert run.model.confidence(0.2) < run.model.confidence(0.7) < run.model.confidence(1.0) < 0.97
    save(run.model, tmp_path / "w.safetensors")
    other = prepared(_TIER, steps=1).model
    restore(other, tmp_path / "w.safetensors")
    assert other.sure == run.model.sure


def test_calibration_changes_no_tree(run: Run, tmp_path: Path):
    documents = load_gum(corpus(tmp_path), "dev")
    before = score(run.model.eval(), documents, ("gold",))
    calibrate(run.model, documents)
    assert score(run.model, documents, ("gold",)) == before


def test_being_as_sure_as_right_is_no_error():
    assert reliability([0.5, 0.5, 1.0], [True, False, True])["ece"] == 0
    assert reliability([0.9, 0.9], [True, False])["ece"] == pytest.approx(0.4)


def test_gold_trees_keep_what_lies_between_our_borders():
    gold = [Node(0, 9, "NS", "joint"), Node(0, 5, "NS", "joint")]
    ours = [Node(0, 9, "SN", "causal"), Node(3, 9, "SN", "causal")]
    assert possible(ours, gold) == [gold[0], ours[1]]


@pytest.mark.parametrize(("bits", "steps"), [(8, 100), (6, 50)])
def test_weights_are_read_as_they_were_written_but_for_rounding(run: Run, tmp_path: Path, bits: int, steps: int):
    save(run.model, tmp_path / "w.safetensors", bits=bits)
    other = prepared(_TIER, steps=1).model
    restore(other, tmp_path / "w.safetensors")
    mine, theirs = run.model.trained(), other.trained()
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        assert torch.allclose(value, theirs[name], atol=float(value.abs().max()) / steps + 1e-6), name


def test_what_is_not_trained_is_not_written(run: Run):
    assert not any("linear" in name or "embeddings" in name for name in run.model.trained())


def test_missing_weights_say_what_to_do(tmp_path: Path):
    with pytest.raises(ConfigError, match="no weights"):
        load(_TIER, tmp_path / "none.safetensors")


def test_weights_of_another_network_are_refused(run: Run, tmp_path: Path):
    save(run.model, tmp_path / "w.safetensors")
    other = replace(_TIER, sizes=Sizes(unit=64))
    with pytest.raises(ConfigError, match="another network"):
        restore(prepared(other, steps=1).model, tmp_path / "w.safetensors")


def test_rates_warm_the_heads_first_then_tune_all_at_constant_rates():
    rates = Rates(warm=100)
    assert rates.adapters(99) == 0 < rates.adapters(120) < rates.adapters(200) == rates.adapters(900) == 1
    assert rates.heads(60) > rates.heads(99) > rates.heads(200) == rates.heads(900) > 0


def test_right_branching_is_measured_beside_the_tiers(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = corpus(tmp_path)
    assert right_branching(load_gum(folder, "dev")).span == 100  # three splits, and two of them right
    evaluate(gum=folder, split="dev", weights=tmp_path, out=tmp_path / "out.json")
    assert "right-branching" in capsys.readouterr().out
    assert (tmp_path / "out.json").exists()


class _Gold:
    """A parser that knows the gold tree, and fails on texts that hold ``hard``."""

    name = version = "gold"

    def __init__(self, documents: Sequence[GumDocument], hard: str = "\0") -> None:
        self._documents, self._hard = {d.text: d for d in documents}, hard

    async def parse(self, chunk: Chunk) -> ParsedTree:
        if self._hard in chunk.text:
            raise InvalidOutputError("No tree.")
        document = self._documents[chunk.text]
        splits = {
            (s.start, s.end): Split(
                start=s.start, mid=s.mid, end=s.end, relation=RELATIONS[s.label] or _HIDDEN, nuclearity=s.nuclearity
            )
            for s in document.splits
        }
        return ParsedTree(tree=from_splits(document.edus, splits))


_HIDDEN = Relation.ELABORATION


async def test_a_prompted_parser_is_measured_with_its_own_units(tmp_path: Path):
    documents = load_gum(corpus(tmp_path), "dev")
    right = await score_prompted(_Gold(documents), whole_documents(documents))
    assert (right.failed, right.scores.nuclearity, right.scores.seg) == (0, 100, 100)
    assert right.scores.relation == pytest.approx(200 / 3)  # the heading's relation is in no inventory


async def test_a_text_without_a_tree_counts_as_missed(tmp_path: Path):
    documents = load_gum(corpus(tmp_path), "dev")
    missed = await score_prompted(_Gold(documents, documents[0].text[:5]), whole_documents(documents))
    assert missed.failed == missed.asked == len(documents)
    assert (missed.scores.span, missed.scores.seg) == (0, 0)


def test_a_prompted_parser_needs_an_endpoint(tmp_path: Path):
    with pytest.raises(ConfigError, match="DISCO_RAG_LLM__BASE_URL"):
        evaluate(gum=corpus(tmp_path), split="dev", weights=tmp_path, engine="llm")


def test_every_relation_has_a_class():
    assert {class_of_relation(r) for r in Relation} <= set(CLASSES)
