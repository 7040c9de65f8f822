"""The trained parser: any text gives one valid tree over exactly that text that keeps to its layout."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.discourse.parse.parser import Unit
from discorag.discourse.parse.rules import RuleParser, rule_tree
from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.ingest.segment.chunks import whole_chunk
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.segment.layout import WHOLE, is_mark
from discorag.schema.discourse import Nuclearity, Relation, RstTree
from discorag.schema.document import Chunk, Document, Markup, UnitKind
from discorag.text.sentences import language_of, sentence_spans
from tests.strategies import chunk_over, shifted
from tests.text.layouts import SAMPLES

_PARSER = TrainedParser()

_VITAMIN = (
    "Vitamin D lowers the risk of respiratory infections if people are deficient. Although several trials found no "
    "effect, the authors say that these gave single large doses. For example, one trial gave 100,000 units at once."
)


def _checked(text: str) -> RstTree:
    """The parse, after checking that it is a tree over exactly the text."""
    tree = _PARSER.parse_text(text)
    at = 0
    for edu in tree.edus:
        assert not text[at : edu.start].strip()
        piece = text[edu.start : edu.end]
        assert piece
        assert piece == piece.strip()
        at = edu.end
    assert not text[at:].strip()
    assert len(tree.splits) == len(tree.edus) - 1
    assert all(s.confidence is not None for s in tree.splits)
    return tree


def test_clauses_are_units_and_sentences_start_units():
    tree = _checked(_VITAMIN)
    edus = [_VITAMIN[e.start : e.end] for e in tree.edus]
    assert "if people are deficient." in edus
    assert "Although several trials found no effect," in edus
    assert {s.start for s in sentence_spans(_VITAMIN)} <= {e.start for e in tree.edus}
    condition = tree.split_at(0, 2)
    assert (condition.relation, condition.nuclearity) == (Relation.CONDITION, Nuclearity.NS)


async def test_a_chunks_tree_is_in_document_offsets():
    text, start = _VITAMIN, 1000
    chunk = chunk_over(text, None, start, sentences=shifted(sentence_spans(text), start))
    parsed = await _PARSER.parse(chunk)
    assert parsed.value.span == chunk.span
    assert parsed.value.splits == _PARSER.parse_text(text).splits


@pytest.mark.parametrize("kind", ["edu", "sentence", "paragraph"])
def test_given_units_are_the_leaves_as_they_are(kind: Unit):
    units = ["Pumps failed. ", "They were cheap.\n\nVery cheap.", "The office was warned, 🎉 twice"]
    tree = _PARSER.parse_units(units, kind)
    whole = ("\n\n" if kind == "paragraph" else " ").join(units)
    assert [whole[e.start : e.end] for e in tree.edus] == [u.strip() for u in units]


@pytest.mark.parametrize("units", [["\u200b", "\u200b"], ["水泵坏了。", "因此停水。"]])
def test_units_that_it_cannot_read_get_the_rules_tree(units: list[str]):
    assert _PARSER.parse_units(units) == RuleParser().parse_units(units, "paragraph")


@pytest.mark.parametrize(
    "text",
    [
        "Yes",
        "no punctuation at all and it goes on because nobody stops it " * 40,
        "def f(x):\n    return x if x else None  # because\n\nprint(f(3))\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
        "Zero\u200bwidth\u200b, if \u200bit matters\ufeff.",
        "\u200b",
        "a" * 5000,
        "\n\n".join([_VITAMIN] * 40),
    ],
    ids=range(8),
)
def test_odd_texts_give_a_tree_over_exactly_the_text(text: str):
    _checked(text)


@given(st.text(max_size=300).filter(lambda text: text.strip() and language_of(text) == "en"))
def test_any_unicode_gives_a_tree(text: str):
    _checked(text)


async def test_chinese_chunks_get_the_rules_trees():
    text = "维生素 D 降低感染的风险。但是有些试验没有发现效果。因此需要更多研究。"
    chunk = chunk_over(text, sentences=sentence_spans(text))
    assert (await TrainedParser().parse(chunk)).value == rule_tree(chunk)


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
        """The kind of each unit: that of the one layout unit in which it lies."""
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
    document = Document(uri="u", title="t", text=text, markup=Markup.INLINE if markdown else Markup.NONE)
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
