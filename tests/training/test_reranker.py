"""The training of the reranker that reads a sentence in its passage: its groups, its losses, resumption, its file."""

# torch and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discorag.models.cross_encoder import OnnxCrossEncoder
from discorag.models.packaged import MS_MARCO_MINILM, file_sha256, packaged_folder
from training.reranker.groups import Group, training_groups
from training.reranker.questions import LICENCES, Question, read_questions

PASSAGE = "The weir is old. It was built in 1890. Eels live there. The mill is closed."
ROW = {"title": "Weir / History", "context": PASSAGE, "part": "train", "question": "When was the weir built?"}
ANSWERED = {**ROW, "id": "a", "answers": [{"text": "1890", "start": PASSAGE.index("1890")}]}
UNANSWERED = {**ROW, "id": "u", "question": "Who built the mill?", "answers": []}


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read(*rows: dict[str, Any]) -> list[Question]:
        file = tmp_path / "squad2.jsonl.gz"
        file.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
        return list(read_questions(file))

    return read


def test_a_group_has_the_sentence_that_answers_in_its_passage_and_its_neighbours_before_others(read: Any) -> None:
    [group] = training_groups(read(ANSWERED), (), 0)
    assert group.right == (True, False, False, False)
    assert group.texts[0] == "Weir > History: The weir is old. [It was built in 1890.] Eels live there."
    assert {text[text.index("[") :].partition("]")[0] for text in group.texts[1:3]} == {
        "[The weir is old.",
        "[Eels live there.",
    }


def test_no_sentence_of_an_unanswerable_question_is_right_and_the_nearest_in_words_come_first(read: Any) -> None:
    [group] = training_groups(read(UNANSWERED), (), 0)
    assert group.right == (False, False, False)
    assert {group.texts[0].partition("[")[2], group.texts[1].partition("[")[2]} >= {"The mill is closed.]"}


def test_what_measures_and_what_is_not_free_is_not_trained_on(read: Any) -> None:
    held_out, review = {**ANSWERED, "part": "test"}, {**ANSWERED, "domain": "amazon"}
    other = {**ANSWERED, "title": "Clap"}
    assert [g.texts[0][:4] for g in training_groups(read(held_out, review, ANSWERED, other), {"weir"}, 0)] == ["Clap"]


def test_the_first_output_learns_the_order_of_a_question_and_the_second_whether_a_sentence_answers() -> None:
    import torch

    from training.reranker.__main__ import loss_of

    logits = torch.zeros(4, 2, requires_grad=True)
    loss_of(logits, torch.tensor([(0, 1), (0, 0), (1, 0), (1, 0)])).backward()
    assert logits.grad is not None
    order, answers = logits.grad.T
    torch.testing.assert_close(order, torch.tensor([-0.25, 0.25, 0.0, 0.0]))  # no order without a right one
    torch.testing.assert_close(answers, torch.tensor([-0.125, 0.125, 0.125, 0.125]))


def test_a_run_that_was_stopped_ends_where_one_that_was_not_ends(tmp_path: Path, monkeypatch: Any) -> None:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    from training.reranker import __main__ as training

    tokenizer = training.tokenizer_of(packaged_folder(MS_MARCO_MINILM.name))
    groups = [Group("selqa", f"who is {i}", (f"[He is {i}.]", "[It rains.]"), (True, False)) for i in range(16)]

    def tiny() -> BertForSequenceClassification:
        torch.manual_seed(0)
        return BertForSequenceClassification(
            BertConfig(
                hidden_size=8,
                num_hidden_layers=1,
                num_attention_heads=1,
                intermediate_size=8,
                hidden_dropout_prob=0,
                attention_probs_dropout_prob=0,
            )
        )

    whole = training.train(tiny(), tokenizer, groups, tmp_path / "whole", every=1)
    loss_of, steps = training.loss_of, list[int]()

    def stop_at_the_third(*given: Any) -> Any:
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt
        return loss_of(*given)

    monkeypatch.setattr(training, "loss_of", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        training.train(tiny(), tokenizer, groups, tmp_path / "part", every=1)
    resumed = training.train(tiny(), tokenizer, groups, tmp_path / "part", every=1)
    assert len(steps) == 2 + 1 + 2
    torch.testing.assert_close(resumed, whole)
    assert not torch.equal(whole["classifier.weight"], tiny().state_dict()["classifier.weight"])


def test_the_file_says_what_the_model_says_by_both_outputs_which_begin_as_the_packaged_ones(tmp_path: Path) -> None:
    import torch

    from training.reranker.__main__ import export, start, tokenizer_of

    folder = packaged_folder(MS_MARCO_MINILM.name)
    pairs = [
        ("what is the capital of italy", "Italy: [Rome is the capital.] It is old."),
        ("who wrote it", "[Dogs bark.]"),
    ]
    model, tokenizer = start(folder).eval(), tokenizer_of(folder)
    with torch.inference_mode():
        said = np.array([model(**tokenizer(*pair, return_tensors="pt")).logits[0].numpy() for pair in pairs])
        np.testing.assert_allclose(said, OnnxCrossEncoder(folder).logits(pairs).repeat(2, 1), atol=0.6)
        model.classifier.weight[1].neg_()
        said = np.array([model(**tokenizer(*pair, return_tensors="pt")).logits[0].numpy() for pair in pairs])
    group = Group("selqa", "q", ("[a]", "[b]"), (True, False))
    record = export(model.state_dict(), [group], folder, tmp_path, seed=0)
    np.testing.assert_allclose(OnnxCrossEncoder(tmp_path).logits(pairs), said, atol=0.6)
    assert record["sha256"] == file_sha256(tmp_path / "model.onnx")
    assert record["sets"]["selqa"] == {"licence": "Apache-2.0", "groups": 1}


def test_the_card_names_what_the_weights_are_made_of() -> None:
    card = Path("docs/models.md").read_text("utf-8")
    assert all(f"{name} ({licence}" in card for name, licence in LICENCES.items())
    assert MS_MARCO_MINILM.files["model.onnx"] in card
