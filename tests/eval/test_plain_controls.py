"""Controls over plain values, and a pipeline of LangChain objects that is measured with them."""

import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from eval.controls import Edge, Tree, exchange, permute_edges, random_tree, right_branching_tree, shuffle_labels
from examples.is_structure_worth_it import CONTROLS, example_cases, worth

NODES = "abcde"
EDGES = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from("XY"), st.sampled_from(NODES)), unique=True)
SEEDS = st.integers(0, 50)


def degrees(edges: Sequence[Edge[str, str]]) -> list[tuple[int, int]]:
    """How many edges leave and reach each node, whichever node it is."""
    out, into = Counter(edge[0] for edge in edges), Counter(edge[2] for edge in edges)
    return sorted((out[n], into[n]) for n in NODES)


@given(edges=EDGES, seed=SEEDS)
def test_permuted_edges_keep_number_labels_and_shape(edges: list[Edge[str, str]], seed: int) -> None:
    moved = permute_edges(NODES, edges, Random(seed))
    assert Counter(label for _, label, _ in moved) == Counter(label for _, label, _ in edges)
    assert degrees(moved) == degrees(edges)
    assert moved == permute_edges(NODES, edges, Random(seed))


@given(seed=SEEDS)
def test_permuted_edges_are_others_where_there_are_others(seed: int) -> None:
    assert permute_edges("ab", [("a", "X", "b")], Random(seed)) == [("b", "X", "a")]
    ring = [("a", "X", "b"), ("b", "X", "a")]
    assert {*permute_edges("ab", ring, Random(seed))} == {*ring}


def test_an_edge_of_no_node_is_an_error() -> None:
    with pytest.raises(KeyError):
        permute_edges("ab", [("a", "X", "z")], Random(1))


@given(edges=EDGES, seed=SEEDS)
def test_shuffled_labels_leave_the_edges_where_they_are(edges: list[Edge[str, str]], seed: int) -> None:
    shuffled = shuffle_labels(edges, Random(seed))
    assert [(a, b) for a, _, b in shuffled] == [(a, b) for a, _, b in edges]
    assert Counter(label for _, label, _ in shuffled) == Counter(label for _, label, _ in edges)


@given(seed=SEEDS)
def test_shuffled_labels_are_in_another_order_where_there_is_one(seed: int) -> None:
    edges = [("a", "X", "b"), ("b", "Y", "c")]
    assert shuffle_labels(edges, Random(seed)) == [("a", "Y", "b"), ("b", "X", "c")]


def leaves(tree: Tree[str]) -> list[str]:
    return [leaf for side in tree for leaf in leaves(side)] if isinstance(tree, tuple) else [tree]


@given(words=st.lists(st.sampled_from(NODES), min_size=1), seed=SEEDS)
def test_trees_have_the_leaves_in_their_order(words: list[str], seed: int) -> None:
    assert leaves(random_tree(words, Random(seed))) == words
    assert leaves(right_branching_tree(words)) == words


def test_trees_have_their_shape() -> None:
    assert right_branching_tree("abcd") == ("a", ("b", ("c", "d")))
    assert {str(random_tree("abc", Random(seed))) for seed in range(20)} == {
        "(('a', 'b'), 'c')",
        "('a', ('b', 'c'))",
    }
    nothing: list[str] = []
    with pytest.raises(IndexError):
        right_branching_tree(nothing)
    with pytest.raises(IndexError):
        random_tree(nothing, Random(1))


@given(questions=st.sets(st.integers(), min_size=2), seed=SEEDS)
def test_every_question_gets_the_structure_of_another_and_each_is_given_once(questions: set[int], seed: int) -> None:
    given_away = exchange({question: question for question in questions}, Random(seed))
    assert {*given_away.values()} == questions
    assert all(question != structure for question, structure in given_away.items())


# --- a pipeline that is not ours ------------------------------------------------------------------


class Reader(BaseChatModel):
    """Takes the number from the document that replaces another one, if it looks at the graph; else from the first."""

    reads_graph: bool

    @property
    def _llm_type(self) -> str:
        return "reader"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        prompt = str(messages[0].content)
        documents = dict(re.findall(r"^\[(\w)\] (.*)$", prompt, re.MULTILINE))
        newer = re.findall(r"^(\w) REPLACES \w$", prompt, re.MULTILINE) if self.reads_graph else []
        text = documents[newer[0] if newer else "a"]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=text))])


def test_a_graph_that_is_read_gains_over_every_control_and_one_that_is_not_over_none() -> None:
    read, unread = (worth(Reader(reads_graph=reads), example_cases()) for reads in (True, False))
    assert read.keys() == unread.keys() == CONTROLS.keys()
    assert all(gain is not None and gain.difference > 0 for gain in read.values())
    assert [gain and gain.difference for gain in unread.values()] == [0.0] * len(CONTROLS)
