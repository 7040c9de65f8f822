"""Relations between chunks: pairs that are made of a corpus, and the models that are trained on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score  # pyright: ignore[reportUnknownVariableType]

from discorag.discourse.relate.learned import FAMILIES, NEITHER, SECOND, RelationModel, load_model
from discorag.models.protocol import Encoder
from discorag.schema.discourse import ChunkRelation, Nuclearity
from discorag.schema.values import Span
from training.parser.gum import GoldSplit, GumDocument
from training.relations.pairs import OF_GUM, Group, Sentences, groups_of
from training.relations.train import calibrated, examples_of, fitted, logistic

R = ChunkRelation
LABELS = [next(label for label, relation in OF_GUM.items() if relation is family) for family in FAMILIES]
"""One of each family, ELABORATES first."""


def test_logistic_regression_finds_the_odds_of_a_binary_input() -> None:
    x = np.array([[0.0]] * 40 + [[1.0]] * 40, dtype=np.float32)
    y = np.array([0] * 30 + [1] * 10 + [0] * 8 + [1] * 32)
    weight, bias = logistic(x, y, np.ones(80, dtype=np.float32), penalty=0.0)
    assert bias[0] == pytest.approx(np.log(10 / 30), abs=1e-3)
    assert weight[0, 0] + bias[0] == pytest.approx(np.log(32 / 8), abs=1e-3)


async def _groups(folder: Path, encoder: Encoder) -> list[Group]:
    """Two documents of 30 sentences: two list items, each a claim with others that hang on it; one PDTB relation."""
    documents, sentences = list[GumDocument](), dict[str, Sentences]()
    (folder / "pdtb").mkdir()
    for name, thing in (("GUM_bio_tea", "tea"), ("GUM_bio_dam", "dam")):
        texts = tuple(f"The {thing} number {i} was seen by {10 * i} people." for i in range(30))
        spans = tuple(Span(start=100 * i, end=100 * i + len(t)) for i, t in enumerate(texts))
        text = "".join(t.ljust(100) for t in texts)
        splits = (GoldSplit(0, 15, 30, Nuclearity.NN, "joint-list"), *_item(0, 15), *_item(15, 30))
        documents.append(GumDocument(name, text, spans, spans, (0, 15), splits))
        sentences[name] = Sentences(texts, await encoder.encode_documents(texts))
        row = f"{texts[2]}\t{texts[17]}\tcontingency.cause.reason"
        (folder / "pdtb" / f"{name}.rels").write_text(f"unit1_sent\tunit2_sent\torig_label\n{row}\n", encoding="utf-8")
    return groups_of(documents, sentences, folder, seed=1)


def _item(start: int, end: int) -> list[GoldSplit]:
    """A claim and what hangs on it, by each label in turn; what justifies comes first."""
    labels = {k: LABELS[(k - start) % len(LABELS)] for k in range(start, end - 1)}
    sides = {True: Nuclearity.SN, False: Nuclearity.NS}
    return [GoldSplit(k, k + 1, end, sides[OF_GUM[label] is R.JUSTIFIES], label) for k, label in labels.items()]


async def test_pairs_of_the_corpus_are_what_its_trees_join(encoder: Encoder, tmp_path: Path) -> None:
    [group, _] = await _groups(tmp_path, encoder)
    root = [p for p in group.pairs if p.source == "tree" and p.orientation == NEITHER]
    assert [(group.passages[p.first].start, group.passages[p.second].start, p.family) for p in root] == [
        (0, 1500, R.SUPPLEMENTS)
    ]
    inside = [p for p in group.pairs if p.source in ("tree", "chunks") and p.family is R.ELABORATES]
    assert inside
    assert all(p.orientation == SECOND for p in inside)
    assert [(p.family, p.orientation) for p in group.pairs if p.source == "pdtb"] == [(None, SECOND)]


async def test_negatives_are_far_apart_in_the_tree_or_of_another_document(encoder: Encoder, tmp_path: Path) -> None:
    [group, _] = await _groups(tmp_path, encoder)
    negatives = [p for p in group.pairs if p.related is False]
    assert {p.source for p in negatives} == {"chunks", "neighbour"}
    for pair in negatives:
        a, b = group.passages[pair.first], group.passages[pair.second]
        assert a.start < 1500 < b.end or a.document != b.document
        assert (a.document == b.document) == (pair.source == "chunks")


async def test_training_gives_weights_that_the_model_reads(encoder: Encoder, tmp_path: Path) -> None:
    examples = examples_of(await _groups(tmp_path, encoder))
    weights = calibrated(fitted(examples), examples)
    said = RelationModel(weights).read(examples.one, examples.other, examples.same)
    known = examples.same & (examples.related >= 0)
    assert roc_auc_score(examples.related[known], said.related[known]) > 0.9
    way = said.orientation[examples.same & (examples.orientation == SECOND)].argmax(axis=1)
    assert (way == SECOND).mean() > 0.9
    assert {n: v.shape for n, v in weights.items()} == {n: v.shape for n, v in load_model().weights.items()}
