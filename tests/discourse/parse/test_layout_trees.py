"""Trees over documents of many layouts: units keep to it, and what only opens something is no nucleus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.ingest.segment.blocks import MARKDOWN
from discorag.ingest.segment.chunks import whole_chunk
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.segment.layout import WHOLE, is_mark
from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk, Document, UnitKind
from tests.text.layouts import SAMPLES

_PARSER = TrainedParser()
_SAID = ("Tides rise because the moon pulls the sea.", "If you wait, they fall.", "Few notice, however.")
_BLOCKS = (
    "# The sea and why it moves", "## When it moves", "1. {}\n2. {}", "(a) {}\n(b) {}", "- {}\n\n- {}", "{} {}",
    "| tide | height |\n| -- | -- |\n| spring | 5 m |", "```sh\nif tide; then wait; fi\n```", "> {}", "MARY: {}",
    "TOM: {}",
)  # fmt: skip


@dataclass(frozen=True)
class _Parsed:
    chunk: Chunk
    tree: RstTree

    @property
    def kinds(self) -> list[UnitKind]:
        """Of each unit that of the one layout unit in which it lies."""
        around = [[i for i, s in enumerate(self.chunk.sentences) if s.contains(e)] for e in self.tree.edus]
        assert all(len(found) == 1 for found in around)
        return [self.chunk.kinds[i] for [i] in around]

    @property
    def openers(self) -> set[int]:
        whole = set(self.chunk.sentences)
        marks = {i for i, edu in enumerate(self.tree.edus) if edu in whole and is_mark(self.text(i))}
        return marks | {i for i, kind in enumerate(self.kinds) if kind is UnitKind.HEADING}

    def text(self, unit: int) -> str:
        return self.chunk.slice(self.tree.edus[unit])


def _parsed(text: str, *, markdown: bool) -> _Parsed:
    document = Document(uri="u", title="t", text=text, media_type=MARKDOWN if markdown else "text/plain")
    chunk = whole_chunk(document, build_hierarchy(document))
    tree = _PARSER.parse_text(chunk.text, chunk.sentences, chunk.paragraph_starts, chunk.kinds)
    return _Parsed(chunk, tree)


def _check(parsed: _Parsed) -> None:
    texts = [parsed.text(i) for i in range(len(parsed.tree.edus))]
    assert "".join("".join(texts).split()) == "".join(parsed.chunk.text.split())
    sentences = set(parsed.chunk.sentences)
    assert all(edu in sentences for edu, kind in zip(parsed.tree.edus, parsed.kinds, strict=True) if kind in WHOLE)
    _check_roles(parsed.tree, parsed.openers)


def _check_roles(tree: RstTree, openers: set[int]) -> None:
    """A unit that opens something is a satellite of what follows, at the end of the text of what stands before."""
    for split in tree.splits:
        sides = (range(split.start, split.mid), range(split.mid, split.end))
        silent = [openers.issuperset(side) for side in sides]
        roles = [role for role, quiet in zip(split.nuclearity.value, silent, strict=True) if quiet]
        assert all(silent) or "N" not in roles
        assert split.mid - 1 not in openers or split.mid - 1 == split.start


@pytest.mark.parametrize("name", [n for n, sample in SAMPLES.items() if sample.text.isascii()])
def test_units_keep_to_the_layout_and_headings_and_marks_are_no_nuclei(name: str) -> None:
    _check(_parsed(SAMPLES[name].text, markdown=SAMPLES[name].markdown))


@given(st.lists(st.sampled_from(_BLOCKS), min_size=1, max_size=8), st.permutations(_SAID), st.booleans())
def test_so_they_do_in_whatever_order_layouts_follow_each_other(
    blocks: Sequence[str], said: Sequence[str], markdown: bool
) -> None:
    _check(_parsed("\n\n".join(block.format(*said) for block in blocks), markdown=markdown))


_TURNS = ("Well, I think that tides rise.", "Because the moon pulls?", "Nobody in town would doubt that, would they?")


@pytest.mark.parametrize(("between", "behind"), [("\n", " "), ("\n\n", " "), ("\n\n", "\n")])
def test_a_name_is_one_unit_with_what_is_said_first(between: str, behind: str) -> None:
    text = between.join(f"{who}:{behind}{said}" for said in _TURNS for who in ("MARY", "TOM JONES"))
    parsed = _parsed(text, markdown=False)
    _check(parsed)
    assert not parsed.openers
    assert sum(bool(re.match(r"(MARY|TOM JONES):\s\S", parsed.text(i))) for i in range(len(parsed.tree.edus))) == 6


@pytest.mark.parametrize("mark", ["3.", "(a)", "d)", "-"])
def test_a_list_mark_is_one_unit_with_what_it_opens(mark: str) -> None:
    parsed = _parsed(f"You may do this:\n\n{mark} If you wait, the tide falls, because the moon goes.", markdown=False)
    assert not parsed.openers - {0}
    assert any(parsed.text(i).startswith(f"{mark} If") for i in range(len(parsed.tree.edus)))
