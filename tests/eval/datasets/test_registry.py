import pytest

from discorag.schema.errors import ConfigError
from eval.datasets.registry import LOADERS, load_benchmark
from eval.errors import DataError
from tests.eval.helpers import FIXTURES

FILES = {
    "asqa": "asqa/ASQA.json",
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
    "qasper-leval": "qasper/leval.jsonl",
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


def test_an_unknown_dataset_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"no loader for 'squad'.*asqa, asqa-pooled"):
        load_benchmark("squad", FIXTURES)


def test_fields_can_be_renamed_where_a_loader_reads_them_by_name() -> None:
    with pytest.raises(DataError, match="no entry has a field Body"):
        load_benchmark("scinews", FIXTURES / FILES["scinews"], {"paper": "Body"})
    with pytest.raises(ConfigError, match=r"fields of loong cannot be renamed.*scinews"):
        load_benchmark("loong", FIXTURES / FILES["loong"], {"paper": "Body"})
