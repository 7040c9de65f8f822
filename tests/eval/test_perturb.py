"""Damaged structure: each change does what it says and leaves valid structures, and the run resumes with it."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from discorag.schema.discourse import ChunkRelation, Edge, Nuclearity, Relation, RhetoricalGraph, RstTree, Split
from discorag.schema.document import Chunk
from discorag.schema.errors import ConfigError
from discorag.schema.values import Span
from eval.controls import chunk_graphs, plans, trees
from eval.perturb import PERTURBATIONS
from eval.running.runner import find_skipped
from eval.suite import find_system
from tests.conftest import Pipelines
from tests.eval.helpers import answer_toy, session, suite, toy
from tests.graphs import paper_scripts
from tests.graphs.scripts import model
from tests.servers.scripted import ScriptedServer
from tests.strategies import chunk_over

TEXT = (
    "The trial was small, although it was long. Because of that, few fell ill.\n\n"
    "However, a survey saw no effect, which is why doctors hesitate. They wait for more."
)
GRAPH = RhetoricalGraph(
    chunks=("a", "b", "c", "d"),
    edges=(
        Edge(source="a", target="b", relation=ChunkRelation.SUPPORTS),
        Edge(source="b", target="a", relation=ChunkRelation.CAUSES),
        Edge(source="b", target="c", relation=ChunkRelation.CONTRADICTS),
        Edge(source="d", target="c", relation=ChunkRelation.PRECEDES),
    ),
)
PLAN = ["Open with the trial.", "Set the survey against it.", "Name the doubt.", "Close with what is open."]


@pytest.fixture
def chunk() -> Chunk:
    """Ten characters into its document, with a tree over seven EDUs."""
    starts = [0, *(TEXT.index(cut) for cut in ("although", "Because", "few", "However", "which", "They")), len(TEXT)]
    edus = [Span(start=10 + a, end=10 + b) for a, b in pairwise(starts)]
    labels = [
        label.split(":") for label in ["CONTRAST:NN", "CAUSE:NS", "EVIDENCE:SN", "JOINT:NN", "RESULT:NS", "CAUSE:SN"]
    ]
    cuts = [(0, 4, 7), (0, 2, 4), (0, 1, 2), (2, 3, 4), (4, 6, 7), (4, 5, 6)]
    splits = [
        Split(start=a, mid=b, end=c, relation=Relation(relation), nuclearity=Nuclearity(nuclearity))
        for (a, b, c), (relation, nuclearity) in zip(cuts, labels, strict=True)
    ]
    return chunk_over(TEXT, RstTree(edus=tuple(edus), splits=tuple(splits)), 10)


def shape(tree: RstTree) -> list[tuple[int, int, int]]:
    return [(s.start, s.mid, s.end) for s in tree.splits]


@pytest.mark.parametrize(("name", "field"), [("tree-labels", "relation"), ("tree-nuclearity", "nuclearity")])
@pytest.mark.parametrize("rate", [0.0, 0.5, 1.0])
def test_the_rate_says_how_many_nodes_get_another_label(chunk: Chunk, name: str, field: str, rate: float) -> None:
    change, tree = PERTURBATIONS[name].tree, chunk.tree
    assert change
    assert tree
    found = change(chunk, Random(1), rate)
    assert shape(found) == shape(tree)
    changed = sum(getattr(a, field) != getattr(b, field) for a, b in zip(found.splits, tree.splits, strict=True))
    assert changed == round(rate * len(tree.splits))


def test_trees_of_another_shape_keep_edus_and_labels(chunk: Chunk) -> None:
    assert chunk.tree
    labels = Counter((s.relation, s.nuclearity) for s in chunk.tree.splits)
    right, drawn = (f(chunk, Random(3), 1.0) for f in (trees.branch_to_the_right, trees.cut_at_random))
    for tree in (right, drawn):
        assert tree.edus == chunk.tree.edus
        assert Counter((s.relation, s.nuclearity) for s in tree.splits) == labels
    assert all(mid == start + 1 for start, mid, _ in shape(right))
    assert drawn == trees.cut_at_random(chunk, Random(3), 1.0)
    assert drawn != trees.cut_at_random(chunk, Random(4), 1.0)


def test_paragraphs_are_what_the_layout_says_and_a_disconnected_subtree_is_related_to_nothing(chunk: Chunk) -> None:
    tree = trees.keep_paragraphs(chunk, Random(), 1.0)
    assert [chunk.slice(edu).strip() for edu in tree.edus] == TEXT.split("\n\n")
    assert {(s.relation, s.nuclearity) for s in tree.splits} == {(Relation.JOINT, Nuclearity.NN)}
    found = trees.disconnect_subtrees(chunk, Random(1), 1.0)
    assert {s.relation for s in found.splits} == {Relation.JOINT}


def test_edges_are_removed_turned_relabelled_and_moved() -> None:
    assert len(chunk_graphs.remove_edges(GRAPH, Random(1), 0.5).edges) == 2
    turned = {(e.source, e.target): e.relation for e in chunk_graphs.turn_edges(GRAPH, Random(1), 1.0).edges}
    assert turned == {(e.target, e.source): e.relation for e in GRAPH.edges}
    relabelled = chunk_graphs.change_edge_labels(GRAPH, Random(1), 0.5).edges
    assert sum(a.relation != b.relation for a, b in zip(relabelled, GRAPH.edges, strict=True)) == 2
    moved = chunk_graphs.permute_chunks(GRAPH, Random(1), 1.0)
    assert Counter(e.relation for e in moved.edges) == Counter(e.relation for e in GRAPH.edges)
    assert {(e.source, e.target) for e in moved.edges} != {(e.source, e.target) for e in GRAPH.edges}


def test_steps_of_a_plan_change_places_or_are_missing() -> None:
    shuffled = plans.shuffle_steps(PLAN, Random(1), 0.5)
    assert sorted(shuffled) == sorted(PLAN)
    assert sum(a != b for a, b in zip(shuffled, PLAN, strict=True)) >= 2
    assert len(plans.remove_steps(PLAN, Random(1), 0.5)) == 2
    assert plans.remove_steps(["Only one."], Random(1), 1.0) == ["Only one."]
    assert plans.remove_steps([], Random(1), 1.0) == []
    assert plans.shuffle_steps(PLAN, Random(1), 0.0) == PLAN


def test_filler_is_as_long_as_it_should_be_and_a_rate_of_the_hits_is_replaced_in_place() -> None:
    assert len(plans.fill(lambda text: len(text.split()), 25).split()) == 25
    found = plans.replace_hits(list("abcde"), list("vwxyz"), Random(1), 0.4)
    assert sum(hit in "vwxyz" for hit in found) == 2
    assert all(hit == old for hit, old in zip(found, "abcde", strict=True) if hit in "abcde")


@pytest.mark.parametrize(
    "name", ["fuller~noise", "written~shade", "lead~noise", "markers~noise", "written-no-plan~noise"]
)
def test_what_cannot_be_perturbed_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        find_system(name)
    with pytest.raises(ConfigError, match="rate"):
        find_system("written~noise@2")


# --- in a run -------------------------------------------------------------------------------------


async def test_the_writer_reads_the_damaged_structure_and_the_rest_is_not_asked_for_again(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    names = [
        "paper",
        *(f"paper~{n}" for n in ("random-trees", "edges-turned", "plan-shuffled", "filler", "other-plan")),
    ]
    questions = ("Does vitamin D prevent influenza?", "Did other trials see an effect?")
    plans = {q: f"PLAN: Answer this first: {q} Then close." for q in questions}

    def plan(body: paper_scripts.Body) -> str:
        return plans[paper_scripts.fenced(body, "query")[0]]

    with ScriptedServer(lambda body: plan(body) if paper_scripts.name_of(body) == "plan" else good(body)) as server:
        rag = pipeline(llm=server.base_url)
        records = await answer_toy(rag, tmp_path, toy(*questions), names)
        asked = [(paper_scripts.name_of(r), r) for r in server.requests]
    assert [r.error for r in records] == [""] * 12
    first = [r for name, r in asked if name == "answer" and paper_scripts.fenced(r, "query") == [questions[0]]]
    said = dict(zip(names, (paper_scripts.material_of(r) for r in first), strict=False))
    assert "CHUNK[2] -> CHUNK[1]: CONTRASTS_WITH" in said["paper"]
    assert "CHUNK[1] -> CHUNK[2]: CONTRASTS_WITH" in said["paper~edges-turned"]
    assert paper_scripts.fenced(first[3], "plan") == [f"Then close. Answer this first: {questions[0]}"]
    assert "RHETORICAL GRAPH" not in said["paper~filler"]
    assert "care before you write" in said["paper~filler"]
    # Each change is made to the run itself, not to what an earlier change has left.
    assert "CHUNK[2] -> CHUNK[1]: CONTRASTS_WITH" in said["paper~plan-shuffled"]
    assert questions[1] in paper_scripts.fenced(first[5], "plan")[0]
    graphs = [r for name, r in asked if name == "graph"]
    assert len(graphs) <= 4  # one for each question's own run and one for each plan that is lent


good = paper_scripts.model()


def test_a_perturbation_of_what_a_system_does_not_read_is_not_run() -> None:
    read = [
        *("written", "written-standard", "written~noise@0.5", "written~relations-permuted", "written~other-plan"),
        *("paper~edges-turned", "paper~plan-shuffled", "verbatim~random-trees"),
    ]
    unread = [
        *("written~edges-permuted", "written~random-trees", "written~filler", "paper~relations-permuted"),
        *("raptor~plan-shuffled", "standard~only-statements"),
    ]
    skipped = find_skipped([*read, *unread], has_llm=True)
    assert list(skipped) == unread
    assert all("preset=paper" in why and "unchanged run" in why for why in skipped.values())
    local = ["standard~noise", "verbatim~other-plan", "verbatim~two-calls"]
    without = find_skipped([*read, *unread, *local], has_llm=False)
    assert without.keys() & {*local, *read} == {*local[2:], *(n for n in read if n.startswith(("written", "paper")))}


async def test_what_a_model_does_not_read_is_named_in_the_run_and_not_billed(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    wanted = suite("lay-summaries", limit=1, systems=["written", "written~edges-permuted"], metrics=["rougeL"])
    with ScriptedServer(model()) as server:
        current = session(pipeline(llm=server.base_url), tmp_path, wanted)
        done = await current.run(tmp_path / "run", concurrency=1)
        bills = await current.bill()
    assert list(done.systems) == ["written"]
    assert "statements" in done.skipped["written~edges-permuted"]
    assert done.finished
    assert [bill.system for bill in bills] == ["written"]


async def test_noise_takes_the_places_of_chunks_that_were_found(pipeline: Pipelines, tmp_path: Path) -> None:
    names = ["standard", "standard~noise@0.5"]
    benchmark = toy("Does vitamin D prevent influenza?")
    clean, noisy = await answer_toy(pipeline(), tmp_path, benchmark, names, top_k=2)
    assert {p.doc for p in clean.evidence} == {"trial", "survey"}
    assert "tides" in {p.doc for p in noisy.evidence}
    assert len(noisy.evidence) == 2
