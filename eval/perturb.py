"""What can be changed in a run: its evidence, trees, graph, statements or plan (``SYSTEM~NAME@RATE``).

`eval.running.answerer.Answerer` applies a change of `eval.controls` to the state of a finished run and resumes that run
after it; the nodes of the graph know nothing of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from discorag.schema.discourse import RhetoricalGraph, RstTree
from discorag.schema.document import Chunk
from discorag.schema.statements import StatementGraph
from eval.controls import chunk_graphs, plans, statements, trees

Stage = Literal["parse", "relate", "plan", "generate"]
Reader = Literal["chunks", "statements"]
"""What an answer is written from: chunks with trees and a graph over them, or statements with relations."""


@dataclass(frozen=True)
class Perturbation:
    """A change to the state of a run.

    Args:
        about: One line for tables.
        before: The stage before which the state is changed.
        tree, graph, statements, plan: What changes one structure; None: this one is left as it is. A plan is changed
            as the list of its steps.
        read_with: What the answers are written from that read what is changed.
        switches: Options of the stages that follow.
    """

    about: str
    before: Stage = "plan"
    tree: Callable[[Chunk, Random, float], RstTree] | None = None
    graph: Callable[[RhetoricalGraph, Random, float], RhetoricalGraph] | None = None
    statements: Callable[[StatementGraph, Random, float], StatementGraph] | None = None
    plan: Callable[[Sequence[Any], Random, float], list[Any]] | None = None
    read_with: frozenset[Reader] = frozenset({"chunks"})
    switches: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _of_statements(about: str, change: Callable[[StatementGraph, Random, float], StatementGraph]) -> Perturbation:
    return Perturbation(about, "generate", statements=change, read_with=frozenset({"statements"}))


NOISE, OTHER_PLAN, FILLER, ONLY_STATEMENTS = "noise", "other-plan", "filler", "only-statements"
_BOTH: frozenset[Reader] = frozenset({"chunks", "statements"})
PERTURBATIONS: Mapping[str, Perturbation] = {
    NOISE: Perturbation("chunks replaced by random chunks that were not retrieved", "parse"),
    "tree-labels": Perturbation("tree nodes with other relations", tree=trees.change_relations),
    "tree-nuclearity": Perturbation("tree nodes with other nuclei", tree=trees.change_nuclearity),
    "tree-subtrees": Perturbation("sub-trees that are not related", tree=trees.disconnect_subtrees),
    "random-trees": Perturbation("random trees over the same EDUs", tree=trees.cut_at_random),
    "right-branching": Perturbation("right-branching trees over the same EDUs", tree=trees.branch_to_the_right),
    "paragraphs": Perturbation("paragraph borders instead of trees", tree=trees.keep_paragraphs),
    "edges-removed": Perturbation("edges of the graph removed", graph=chunk_graphs.remove_edges),
    "edges-turned": Perturbation("edges of the graph turned", graph=chunk_graphs.turn_edges),
    "edges-relabelled": Perturbation("edges of the graph with other relations", graph=chunk_graphs.change_edge_labels),
    "edges-permuted": Perturbation("the graph's edges between other chunks", graph=chunk_graphs.permute_chunks),
    "two-calls": _of_statements("the answer written again, from the statements", statements.keep_all),
    "relations-removed": _of_statements("relations of statements removed", statements.remove_relations),
    "relations-permuted": _of_statements("the relations between other statements", statements.permute_relations),
    ONLY_STATEMENTS: _of_statements(
        "no relations, roles and plan: statements in the order of the passages", statements.only_statements
    ),
    "plan-shuffled": Perturbation(
        "steps of the plan in another order", "generate", plan=plans.shuffle_steps, read_with=_BOTH
    ),
    "plan-steps-removed": Perturbation(
        "steps of the plan removed", "generate", plan=plans.remove_steps, read_with=_BOTH
    ),
    OTHER_PLAN: Perturbation("the plan of another question", "generate", read_with=_BOTH),
    FILLER: Perturbation(
        "as many tokens that say nothing instead of trees, graph and plan",
        "generate",
        switches={"use_tree": False},
    ),
}
"""``SYSTEM~NAME@RATE`` in suites, experiments and ``--system``; see `eval.suite.find_system`."""
