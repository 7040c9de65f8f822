"""What the benchmark makes of a verifier's answers."""

from discorag.verification.local import LocalJudge

from bench.verify.__main__ import recall_at
from bench.verify.judged import judged
from discorag.models.protocol import Encoder
from discorag.verification.tracing import TracingVerifier


def test_recall_is_taken_where_a_tenth_of_the_supported_lies_below_the_threshold() -> None:
    supported = [0.1, 0.3, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 1.0]
    assert recall_at([True] * 10 + [False] * 2, [*supported, 0.2, 0.4]) == 0.5


async def test_a_draft_is_supported_if_all_its_sentences_are_and_scores_as_the_least(encoder: Encoder) -> None:
    verifier = TracingVerifier(encoder, LocalJudge())
    documents = {"a": "The ferry sailed on Monday.", "b": "The mill closed in 1903."}
    both = await judged(verifier, documents, "The ferry sailed on Monday. The mill closed in 1903.")
    one = await judged(verifier, documents, "The ferry sailed on Monday. The mill closed in 1930.")
    assert (both.supported, both.score, one.supported) == (True, 1.0, False)
    assert one.score < 1
