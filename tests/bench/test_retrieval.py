"""Controls are retrievers like any other, and a retriever that finds all of the evidence scores 100."""

import pytest

from bench.controls import register_controls
from bench.retrieval import BASELINE, Found, Measurement, figures
from discorag.retrieval.registry import RETRIEVERS, tree_retrievers
from discorag.schema.values import Span
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument
from nodes.backends import Backends
from tests.conftest import Pipelines
from tests.retrieval.builders.checks import below, checked, source_of

TEXT = "The mill stood by the river. It ground rye. A flood took the wheel in 1903. Nobody rebuilt it."
EVIDENCE = "A flood took the wheel in 1903."


@pytest.fixture(autouse=True)
def _controls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registered for one test only: other tests list the product's retrievers."""
    monkeypatch.setattr(RETRIEVERS, "_offers", dict(vars(RETRIEVERS)["_offers"]))
    register_controls()


@pytest.fixture(scope="module")
def backends(shared_pipeline: Pipelines) -> Backends:
    return shared_pipeline().backends


@pytest.mark.parametrize("name", ["random-trees", "right-branching"])
async def test_a_control_makes_one_tree_over_all_sentences_and_always_the_same(name: str, backends: Backends) -> None:
    source = source_of(" ".join(f"Sentence {i} is here." for i in range(30)))
    builder = tree_retrievers()[name].build(backends.tree_tools("rules"))
    tree = checked(source, (await builder.build(source)).tree)
    assert len(tree.nodes) == 59
    assert (await builder.build(source)).tree == tree


async def test_random_trees_have_other_shapes_than_right_branching_ones(backends: Backends) -> None:
    tools = backends.tree_tools("rules")
    source = source_of(" ".join(f"Sentence {i} is here." for i in range(30)))
    shapes = [(await tree_retrievers()[n].build(tools).build(source)).tree for n in ("random-trees", "right-branching")]
    assert below(shapes[0]) != below(shapes[1])


async def test_windows_of_controls_keep_the_borders_of_paragraphs(backends: Backends) -> None:
    source = source_of("One is here. Two is here. Three is here.\n\nFour is here. Five is here.")
    tree = (await tree_retrievers()["snapped-random"].build(backends.tree_tools("rules")).build(source)).tree
    assert {(0, 1, 2), (3, 4)} <= below(tree)


@pytest.mark.parametrize(("words", "recall"), [(7, 100.0), (200, 100.0), (3, 43.0)])
async def test_recall_is_the_share_of_the_evidence_within_the_budget(
    backends: Backends, words: int, recall: float
) -> None:
    start = TEXT.index(EVIDENCE)
    place = DocSpan(doc="mill", span=Span(start=start, end=start + len(EVIDENCE)))
    sample = Sample(
        id="q", query="What took the wheel?", documents=("mill",), gold=(Gold(label="s", anywhere=(place,)),)
    )
    document = SourceDocument(id="mill", title="The mill", text=TEXT)
    benchmark = Benchmark(name="mill", documents={"mill": document}, samples=(sample,))
    found = await Measurement(backends, [BASELINE], words).recall(benchmark, [sample])
    assert found[BASELINE]["q"] == pytest.approx(recall, abs=0.5)


def test_differences_are_paired_question_by_question() -> None:
    found: Found = {"sentences": {"a": 10.0, "b": 50.0}, "slide": {"b": 60.0, "a": 20.0}}
    made = figures(found, ["sentences"])
    assert made["slide"]["less_sentences"] == {"value": 10.0, "low": 10.0, "high": 10.0}
    assert "less_sentences" not in made["sentences"]
