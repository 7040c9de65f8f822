import json
from pathlib import Path
from typing import Any

import pytest

from discorag.errors import InputError, MissingPathError
from eval.datasets.loong import load_loong


def line(**changes: Any) -> str:
    row: dict[str, Any] = {
        "id": "q1",
        "level": 3,
        "set": 1,
        "length": 1000,
        "type": "paper",
        "language": "en",
        "question": "A title",
        "instruction": "Find the citations.",
        "prompt_template": "{docs}{instruction}{question}",
        "doc": ["a.md", "b.md"],
        "answer": {"Reference": ["# B"], "Citation": []},
        "shuffle_doc": True,
    }
    return json.dumps({k: v for k, v in {**row, **changes}.items() if v is not None})


def write(folder: Path, *lines: str) -> Path:
    path = folder / "loong.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_official_lines_are_read_in_order(tmp_path: Path) -> None:
    path = write(tmp_path, line(), line(id="q2", answer="42", question=""))
    assert [(q.id, q.doc, q.answer) for q in load_loong(path)] == [
        ("q1", ("a.md", "b.md"), {"Reference": ["# B"], "Citation": []}),
        ("q2", ("a.md", "b.md"), "42"),
    ]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (line()[:60], ":2: the line"),
        (line(id="q2", level=None), ":2: level"),
        (line(id="q2", level=9), ":2: level"),
        (line(id="q1"), "appears twice"),
    ],
    ids=["cut off", "field missing", "out of range", "duplicate id"],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, bad: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        list(load_loong(write(tmp_path, line(), bad)))


def test_a_missing_file_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match=r"loong\.jsonl"):
        list(load_loong(tmp_path / "loong.jsonl"))
