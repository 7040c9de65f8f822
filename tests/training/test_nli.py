"""The judge's training: what stays apart, what a half-known label teaches, which pairs it sees, and the two files.

torch takes seconds to import: the tests that need it do so, and not every process that collects them.
"""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from discorag.models.cross_encoder import OnnxCrossEncoder
from discorag.models.packaged import MS_MARCO_MINILM, packaged_folder
from training.nli.apart import Apart, apart, closest
from training.nli.sources import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT_ENTAILED, Pair

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
    import torch

    from training.nli.__main__ import loss_of

    logits = torch.tensor([[1.0, 0.5, -0.5]] * 2, requires_grad=True)
    loss = loss_of(logits, torch.tensor([NOT_ENTAILED, CONTRADICTION]))
    (2 * loss).backward()
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


def test_training_leaves_out_what_is_held_out_and_most_pairs_that_are_made_by_rule() -> None:
    from training.nli.__main__ import training_pairs

    found = [Pair(source, f"g{i}", "e", f"s{i}", NEUTRAL) for source in ("mnli", "med") for i in range(6_000)]
    drawn = training_pairs(found, seed=0)
    assert not [p for p in drawn if p.held_out]
    assert Counter(p.source for p in drawn) == {"med": 3_000, "mnli": sum(not p.held_out for p in found[:6_000])}
    assert 0.2 < sum(p.held_out for p in found) / len(found) < 0.3


def test_the_reranker_in_floats_says_what_its_bytes_say_and_goes_back_into_them(tmp_path: Path) -> None:
    import torch

    from training.nli.__main__ import tokenizer_of
    from training.nli.graph import floats_of, start_model, write_graph

    reranker = packaged_folder(MS_MARCO_MINILM.name)
    pairs = [("what is the capital of italy", "Rome is the capital of Italy."), ("who wrote it", "Dogs bark.")]
    before, model = OnnxCrossEncoder(reranker), start_model(reranker, 1).eval()
    tokenizer = tokenizer_of(reranker)
    with torch.inference_mode():
        said = np.array([model(**tokenizer(*pair, return_tensors="pt")).logits[0].numpy() for pair in pairs])
    np.testing.assert_allclose(said, before.logits(pairs), atol=0.6)  # of about 20 between the two
    (tmp_path / "tokenizer.json").write_bytes((reranker / "tokenizer.json").read_bytes())
    write_graph(reranker, model.state_dict(), tmp_path / "model.onnx")
    np.testing.assert_allclose(OnnxCrossEncoder(tmp_path).logits(pairs), said, atol=0.6)
    for name, values in floats_of(tmp_path / "model.onnx").items():
        np.testing.assert_allclose(values, model.state_dict()[name], atol=0.03)
