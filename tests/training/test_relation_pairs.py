"""The frozen pairs for chunk relations: well-formed, as the README beside them says, and unchanged."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import TypedDict

import pytest

from discorag.schema.discourse import EDGE_RELATIONS, ChunkRelation

FOLDER = Path(__file__).parents[2] / "bench" / "relations"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
GENRES = {"medicine", "history", "software", "news", "law", "cooking", "physics", "finance", "travel", "biology"}
LABELS = set(ChunkRelation)


class Pair(TypedDict):
    """One line of the file."""

    id: str
    source: str
    target: str
    label: str
    near_miss: str | None
    genre: str


PAIRS: list[Pair] = [json.loads(line) for line in (FOLDER / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
TEXTS = [text for pair in PAIRS for text in (pair["source"], pair["target"])]


def stated(pattern: str) -> int:
    """The number that the README states where ``pattern`` matches."""
    found = re.search(pattern, README)
    assert found is not None, pattern
    return int(found[1])


def test_the_file_is_the_frozen_one() -> None:
    digest = hashlib.sha256((FOLDER / "pairs.jsonl").read_bytes()).hexdigest()
    assert f"sha256 {digest}" in README


def test_every_line_has_exactly_the_documented_fields() -> None:
    assert {tuple(pair) for pair in PAIRS} == {("id", "source", "target", "label", "near_miss", "genre")}


def test_ids_are_unique_and_in_order() -> None:
    assert [pair["id"] for pair in PAIRS] == [f"p{n:03d}" for n in range(1, len(PAIRS) + 1)]


def test_labels_and_near_misses_are_chunk_relations_and_differ() -> None:
    assert {pair["label"] for pair in PAIRS} == LABELS
    assert {pair["near_miss"] for pair in PAIRS} <= LABELS | {None}
    assert [pair["id"] for pair in PAIRS if pair["label"] == pair["near_miss"]] == []


def test_genres_are_the_ten_documented_ones() -> None:
    assert {pair["genre"] for pair in PAIRS} == GENRES


@pytest.mark.parametrize("label", list(ChunkRelation))
def test_a_label_has_as_many_pairs_as_the_readme_says(label: ChunkRelation) -> None:
    count = Counter(pair["label"] for pair in PAIRS)[label]
    assert count == stated(rf"\| `{label}` \|[^|]+\| (\d+) \|")
    assert count >= (6 if label in EDGE_RELATIONS else 30)


def test_totals_are_those_of_the_readme() -> None:
    near_misses = [pair for pair in PAIRS if pair["near_miss"] is not None]
    assert len(PAIRS) == stated(r"(\d+) pairs, \d+ of them") >= 165
    assert len(near_misses) == stated(r"\d+ pairs, (\d+) of them") >= 45
    assert sum(pair["label"] == "UNRELATED" for pair in near_misses) == stated(r"`UNRELATED`, but [^|]+\| (\d+) \|")


def test_open_cues_add_up_to_about_half_of_the_edges() -> None:
    cues = sum(stated(rf"\| `{label}` \|[^|]+\| \d+ \| (\d+) \|") for label in EDGE_RELATIONS)
    edges = sum(pair["label"] != "UNRELATED" for pair in PAIRS)
    assert (edges, cues) == (stated(r"Of the (\d+) pairs with an edge"), stated(r"an edge, (\d+) state"))
    assert 0.45 <= cues / edges <= 0.55


def test_texts_have_one_to_four_sentences_and_20_to_80_words() -> None:
    words = [len(text.split()) for text in TEXTS]
    sentences = [len(re.findall(r"[.!?](?=\s|$)", text)) for text in TEXTS]
    assert (min(words) >= 20, max(words) <= 80) == (True, True)
    assert (min(sentences), max(sentences)) == (1, 4)


def test_no_text_occurs_twice() -> None:
    assert [text for text, count in Counter(text.casefold() for text in TEXTS).items() if count > 1] == []
