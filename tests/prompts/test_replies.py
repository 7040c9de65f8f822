"""What language models write is read in many styles: `replies.yaml` holds them, with what must come out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from discorag.discourse.parse.as_printed import read
from discorag.discourse.parse.inline import mark, unmark
from discorag.generation.prompted.paper import answer_of, pair_labels, plan_of
from discorag.schema.discourse import ChunkRelation

REPLIES: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("replies.yaml").read_text("utf-8"))


def _tree(reply: str, expected: str) -> str:
    text, _ = unmark(expected, offset=7)
    return mark(text, read(reply, text, offset=7), offset=7)


def _graph(reply: str, _: list[str]) -> list[str]:
    labels = pair_labels(reply, range(1, 4), 3, known=frozenset(ChunkRelation))
    return [f"{i} {label} {j}" for (i, j), label in sorted(labels.items()) if label != ChunkRelation.UNRELATED]


READERS: dict[str, Callable[[str, Any], Any]] = {
    "trees": _tree,
    "graphs": _graph,
    "plans": lambda reply, _: plan_of(reply).paragraph,
    "answers": lambda reply, _: answer_of(reply),
}


def _cases() -> Iterator[Any]:
    for kind, groups in REPLIES.items():
        for group in groups:
            for style, reply in group["replies"].items():
                yield pytest.param(READERS[kind], reply, group["read"], id=f"{kind}: {style}")


CASES = list(_cases())


@pytest.mark.parametrize(("reader", "reply", "expected"), CASES)
def test_a_customary_reply_is_read(reader: Callable[[str, Any], Any], reply: str, expected: Any) -> None:
    assert reader(reply, expected) == expected
