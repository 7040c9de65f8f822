import pytest

from eval.datasets.registry import LOADERS, load_benchmark
from tests.eval.datasets.official import FILES
from tests.eval.helpers import FIXTURES


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
