import json
from pathlib import Path

import pytest

from eval.datasets.acl_verbatim import load_acl_verbatim
from eval.errors import DataError

CHUNK = "\n## Mills\n\nThe mill stands still. The river froze.\n"
GOLD = "The river froze."


def written(folder: Path, *spans: dict[str, object]) -> Path:
    row = {"query": "Why does it stand still?", "paper_id": "M1", "chunk_index": 2, "chunk": CHUNK, "gold_spans": spans}
    file = folder / "gold.jsonl"
    file.write_text(json.dumps(row) + "\n", "utf-8")
    return file


def test_gold_spans_are_those_of_the_stripped_text_and_without_them_a_row_is_not_answerable(tmp_path: Path) -> None:
    start = CHUNK.index(GOLD)
    loaded = load_acl_verbatim(written(tmp_path, {"start": start, "end": start + len(GOLD), "text": GOLD}))
    [sample] = loaded.samples
    text = loaded.documents[sample.documents[0]].text
    assert [place.span.of(text) for piece in sample.gold for place in piece.anywhere] == [GOLD]
    assert sample.answerable
    assert not load_acl_verbatim(written(tmp_path)).samples[0].answerable


def test_a_span_that_differs_from_its_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gold\.jsonl:1"):
        load_acl_verbatim(written(tmp_path, {"start": 0, "end": 3, "text": "Mil"}))
