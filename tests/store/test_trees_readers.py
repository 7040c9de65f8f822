"""What readers see while trees are added, replaced and deleted: one whole state, never parts of two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from threading import Event
from time import sleep

import numpy as np
import pytest

from discorag.store.base import ShardStore
from discorag.store.protocol import SearchQuery
from discorag.trees.builders.flat import FlatSentenceBuilder
from discorag.trees.index import TreeIndex
from discorag.types.errors import NotFoundError
from tests.store.samples import SCOPE, TreeSample, sample, scores_of, tree_of, unit
from tests.trees.hashing import HashingEncoder

QUERY = unit(1, 77)[0]
PIECES = [sample(f"{name}.md", [f"{name} part {i}" for i in range(6)]) for name in ("a", "b")]
ENOUGH = 8


def write_while_reading(read: Callable[[], None], steps: Iterator[Callable[[], object]]) -> None:
    """Take steps until another thread has read often enough; what went wrong there is raised here."""
    done, reads = Event(), list[None]()

    def read_on() -> None:
        while not done.is_set():
            reads.append(read())

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_on)
        for taken, step in enumerate(islice(steps, 200)):
            step()
            sleep(0.005)
            if reading.done() or (taken >= 12 and len(reads) >= ENOUGH):
                break
        done.set()
    reading.result()
    assert len(reads) >= ENOUGH


def states(builder: str = "discourse") -> list[TreeSample]:
    """Two trees of one document that have the same number of nodes, and a smaller one."""
    first, second = (tree_of(PIECES[0], builder=builder, heading=h, seed=s) for h, s in (("Old", 1), ("New", 2)))
    return [first, second, tree_of(PIECES[0], builder=builder, leaves=3, seed=3)]


def is_one_of(scores: np.ndarray, made: list[TreeSample]) -> bool:
    return any(len(scores) == len(m.vectors) and np.allclose(scores, m.vectors @ QUERY, atol=1e-5) for m in made)


def test_a_reader_sees_the_tree_and_the_scores_of_one_state_while_it_is_replaced(store: ShardStore) -> None:
    made, doc_id = states(), PIECES[0].doc_id
    PIECES[0].put_in(store)
    made[0].put_in(store)

    def read() -> None:
        assert store.tree(SCOPE, doc_id, "discourse").nodes in [m.tree.nodes for m in made]
        assert is_one_of(scores_of(store, SCOPE, "discourse", [doc_id], QUERY)[doc_id], made)
        assert store.tree_versions(SCOPE, "discourse")[doc_id] in {m.version for m in made}

    write_while_reading(read, ((lambda m=m: m.put_in(store)) for m in cycle(made)))


def test_a_tree_that_comes_and_goes_is_there_whole_or_not_at_all_and_others_stay(store: ShardStore) -> None:
    [made, *_], doc_id = states(), PIECES[0].doc_id
    others = [tree_of(PIECES[0], builder="clusters", seed=4), tree_of(PIECES[1], seed=5)]
    for piece in PIECES:
        piece.put_in(store)
    for other in others:
        other.put_in(store)
    seen = set[bool]()

    def read() -> None:
        scores = scores_of(store, SCOPE, "discourse", [p.doc_id for p in PIECES], QUERY)
        seen.add(doc_id in scores)
        assert doc_id not in scores or is_one_of(scores[doc_id], [made])
        assert is_one_of(scores[PIECES[1].doc_id], [others[1]])
        try:
            assert store.tree(SCOPE, doc_id, "discourse") == made.tree
        except NotFoundError:
            seen.add(False)
        assert store.tree(SCOPE, doc_id, "clusters") == others[0].tree

    gone = (lambda: made.put_in(store), lambda: store.delete_tree(SCOPE, doc_id, "discourse"))
    write_while_reading(read, cycle(gone))


def test_a_replaced_document_takes_its_tree_along_and_leaves_its_neighbours(store: ShardStore) -> None:
    piece, changed, kept = PIECES[0], sample("a.md", ["quite new"]), tree_of(PIECES[1], seed=5)
    made = tree_of(piece, seed=1)
    for p in PIECES:
        p.put_in(store)
    kept.put_in(store)

    def read() -> None:
        scores = scores_of(store, SCOPE, "discourse", [p.doc_id for p in PIECES], QUERY)
        assert is_one_of(scores[PIECES[1].doc_id], [kept])
        assert piece.doc_id not in scores or is_one_of(scores[piece.doc_id], [made])
        assert store.tree(SCOPE, PIECES[1].doc_id, "discourse") == kept.tree

    steps = (lambda: made.put_in(store), lambda: changed.put_in(store), lambda: piece.put_in(store))
    write_while_reading(read, cycle(steps))


@pytest.fixture
def index(store: ShardStore) -> TreeIndex:
    builder = FlatSentenceBuilder()
    return TreeIndex(store, SCOPE, HashingEncoder(), builder, "mean")


def test_a_question_scores_the_nodes_of_one_state_while_the_tree_is_replaced(
    store: ShardStore, index: TreeIndex
) -> None:
    made, doc_id = states("flat-sentences"), PIECES[0].doc_id
    PIECES[0].put_in(store)
    made[0].put_in(store)

    def read() -> None:
        asked = SearchQuery(vector=QUERY, text="part 3")
        found = asyncio.run(index.scores(asked, [doc_id], by="dense", texts=True))
        [state] = [m for m in made if m.tree.nodes == found.forest.tree.nodes]
        assert is_one_of(found.nodes, [state])

    write_while_reading(read, ((lambda m=m: m.put_in(store)) for m in cycle(made)))
