"""What the benchmark makes of a verifier's answers."""

import json
from pathlib import Path

import numpy as np

from bench.verify.__main__ import auc
from bench.verify.judged import judged, state_of
from discorag.models.protocol import Encoder
from discorag.schema.answer import Support
from discorag.verification.tracing import TracingVerifier
from tests.inputs import selector_of

RESULT = Path("bench/results/verify.json")


def test_an_auc_lies_in_its_interval_and_is_the_same_every_time() -> None:
    labels, scores = [True, False] * 20, np.arange(40.0) % 7
    found = auc(labels, scores)
    assert found["interval"][0] <= found["auc"] <= found["interval"][1]
    assert found == auc(labels, scores)
    assert auc(labels, np.array(labels, float)) == {"auc": 1.0, "interval": [1.0, 1.0]}


async def test_a_draft_is_as_supported_as_its_worst_sentence(encoder: Encoder) -> None:
    verifier = TracingVerifier(encoder, selector_of(encoder).reranker)
    documents = {"a": "The ferry sailed on Monday.", "b": "The mill closed in 1903."}
    drafts = (
        "The ferry sailed on Monday. The mill closed in 1903.",
        "The ferry sailed on Monday. In 1903 the mill was shut.",
        "The ferry sailed on Monday. The mill closed in 1930. In 1903 the mill was shut.",
    )
    assert [state_of(await judged(verifier, documents, d)) for d in drafts] == [
        Support.SUPPORTED,
        Support.NOT_VERIFIED,
        Support.NOT_SUPPORTED,
    ]


def test_the_committed_result_has_no_forged_sentence_supported_and_few_true_ones_not_supported() -> None:
    found = json.loads(RESULT.read_text("utf-8"))
    assert found["forged"]["supported"] == 0
    assert found["true"]["not_supported_share"] <= 0.05
