import pytest

from eval.datasets.registry import LOADERS, load_benchmark
from tests.eval.helpers import FIXTURES

FILES = {
    "asqa-pooled": "asqa/asqa_eval_pooled.json",
    "clapnq": "clapnq",
    "eli5": "eli5/eli5_eval_bm25_top100.json",
    "fairytaleqa": "fairytaleqa",
    "hotpotqa": "hotpotqa/hotpot_tiny_distractor.json",
    "lay-summaries": "lay_summaries/test.json",
    "loong": "loong",
    "musique": "musique/musique_tiny.jsonl",
    "narrativeqa": "narrativeqa/narrativeqa.jsonl",
    "nq-open-oracle": "nq_open_oracle/nq-open-oracle.jsonl",
    "qampari": "qampari/qampari_eval_gtr_top100.json",
    "qasper": "qasper/papers-v0.3.json",
    "qmsum": "qmsum/meetings.jsonl",
    "quality": "quality/QuALITY.tiny.htmlstripped.dev",
    "scinews": "scinews/test.json",
    "triviaqa": "triviaqa/retrieved_pooled.jsonl",
}


def test_every_loader_has_a_fixture() -> None:
    assert FILES.keys() == LOADERS.keys()


@pytest.mark.parametrize("dataset", FILES)
def test_every_loader_keeps_what_benchmarks_promise(dataset: str) -> None:
    benchmark = load_benchmark(dataset, FIXTURES / FILES[dataset])
    assert benchmark.samples
    assert len({s.id for s in benchmark.samples}) == len(benchmark.samples)
    assert all(key == d.id for key, d in benchmark.documents.items())
    assert {d for s in benchmark.samples for d in s.documents} <= benchmark.documents.keys()
    for document in benchmark.documents.values():
        assert document.text == document.text.strip().replace("\r", "")
        assert all(part.end <= len(document.text) for part in document.parts)
    for place in (p for s in benchmark.samples for g in s.gold for p in g.anywhere):
        assert place.span.end <= len(benchmark.documents[place.doc].text)
