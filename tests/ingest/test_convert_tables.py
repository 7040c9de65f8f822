"""CSV and JSON as Markdown."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.formats import convert
from discorag.ingest.loaders import Source, load
from discorag.ingest.segment.headings import build_hierarchy
from discorag.schema.document import Document, Kind
from discorag.schema.errors import DecodingError, EmptyDocumentError


def made(name: str, data: str | bytes) -> Converted:
    return convert(data.encode() if isinstance(data, str) else data, Path(name), max_bytes=1_000_000)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'place,range\nVenice,1\n"Bay of\nFundy",16\n'),
        ("a.csv", "place;range\r\n\r\nVenice;1\r\nBay of Fundy;16"),
        ("a.csv", "place|range\nVenice|1\nBay of Fundy|16\n"),
        ("a.TSV", "place\trange\nVenice\t1\nBay of Fundy\t16\n"),
    ],
)
def test_a_table_is_read_whatever_its_delimiter_quotes_and_line_ends(name: str, text: str) -> None:
    assert made(name, text).text == "| place | range |\n| --- | --- |\n| Venice | 1 |\n| Bay of Fundy | 16 |"


def test_the_delimiter_is_what_cuts_the_rows_alike_not_what_is_frequent() -> None:
    text = made("a.csv", "what;price\ntea, green, loose;1,5\n").text
    assert text.splitlines()[-1] == "| tea, green, loose | 1,5 |"


def test_rows_of_other_lengths_keep_their_cells_under_the_first_columns() -> None:
    assert made("a.csv", "a,b\n1\n2,3,4\n5,6").text.splitlines() == [
        "| a | b |  |",
        "| --- | --- | --- |",
        "| 1 |  |  |",
        "| 2 | 3 | 4 |",
        "| 5 | 6 |  |",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'a,b\n1,2\n3,"open\n4,5\n',
            r"t\.csv is not a valid CSV table: unexpected end.*begins at line 3.*quotation marks",
        ),
        ('a,b\n"x" y,2\n', r"begins at line 2"),
        ("a,b\n" + "x" * 200_000 + ",2\n", r"field larger than field limit.*line 2"),
    ],
)
def test_a_broken_table_is_an_error_that_names_the_row(text: str, says: str) -> None:
    with pytest.raises(DecodingError, match=says):
        made("t.csv", text)


def test_an_object_is_a_list_and_its_longer_values_are_sections() -> None:
    about = '"range": 1.50, "none": null, "empty": [], "open": true, "about": "They rise.\\n# Twice."'
    found = made("a.json", f'{{"title": "On tides", {about}}}')
    assert found.text == "- title: On tides\n- range: 1.50\n- open: true\n\n# about\n\nThey rise.\n\\# Twice."
    assert found.title == "On tides"


def test_an_array_of_flat_objects_is_a_table_with_every_key() -> None:
    text = made("a.json", '[{"place": "Venice", "range": 1}, {"place": "A|B", "note": "high"}]').text
    assert text.splitlines() == [
        "| place | range | note |",
        "| --- | --- | --- |",
        "| Venice | 1 |  |",
        r"| A\|B |  | high |",
    ]


def test_longer_objects_are_sections_named_by_what_tells_them_apart() -> None:
    items = [{"kind": "sea", "id": str(i), "name": name, "text": "x " * 150} for i, name in enumerate(["Moon", "Sun"])]
    found = made("a.jsonl", "\n".join(map(json.dumps, items)) + "\n\n")
    assert [line for line in found.text.splitlines() if line.startswith("#")] == [
        "# Moon",
        "## text",
        "# Sun",
        "## text",
    ]
    assert found.title == "a"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", '{"a": 1,\n "b" 2}', r"a\.json is not valid JSON: Expecting ':' delimiter at line 2, column 6"),
        ("a.json", '{"a": 1}\n{"a": 2}', r"Extra data at line 2.*name it \.jsonl"),
        ("a.jsonl", '{"a": 1}\n\n{"a": \n', r"at line 3, column 7"),
        ("a.json", "[" * 100_000 + "]" * 100_000, "nested too deeply"),
    ],
)
def test_broken_json_is_an_error_that_names_the_place(name: str, text: str, says: str) -> None:
    with pytest.raises(DecodingError, match=says):
        made(name, text)


@pytest.mark.parametrize(("name", "text"), [("a.json", "{}"), ("a.json", " \n"), ("a.jsonl", "\n"), ("a.csv", "\n,\n")])
def test_a_file_that_says_nothing_is_refused_as_empty(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(EmptyDocumentError):
        load(Source(tmp_path / name, name), max_bytes=1000)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(LEAVES, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=5), v, max_size=4))


@given(VALUES)
def test_any_json_becomes_text_whose_sentences_have_exact_offsets(value: Any) -> None:
    text = made("a.json", json.dumps(value)).text
    assert text.encode().decode() == text
    if text.strip():
        document = Document(uri="a.json", title="a", text=text, media_type="text/markdown")
        spans = [node.span for _, node in build_hierarchy(document).of_kind(Kind.SENTENCE)]
        assert "".join("".join(s.of(text) for s in spans).split()) == "".join(text.split())
