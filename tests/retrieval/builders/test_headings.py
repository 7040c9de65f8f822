"""The document structure tree: headings above, paragraphs below, whatever the document's shape."""

import pytest

from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.base import Source
from discorag.retrieval.builders.headings import HeadingBuilder
from discorag.schema.document import Document, Markup
from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.hashing import HashingTokens


async def built(text: str, title: str = "Parks", markup: Markup = Markup.INLINE, window: int = 100) -> RetrievalTree:
    document = Document(uri="u", title=title, text=text, markup=markup)
    source = Source(document=document, hierarchy=build_hierarchy(document))
    return (await HeadingBuilder(HashingTokens(window)).build(source)).tree


def outline(tree: RetrievalTree, node: int | None = None, depth: int = 0) -> list[str]:
    """Every node as ``<depth> heading`` or ``<depth> 'leaf text'``, in pre-order."""
    nodes = tree.roots if node is None else tree.nodes[node].children
    lines: list[str] = []
    for i in nodes:
        made = tree.nodes[i]
        lines += [f"{depth} {made.heading if made.children else repr(made.text)}", *outline(tree, i, depth + 1)]
    return lines


async def test_headings_are_inner_nodes_that_read_as_their_path_and_paragraphs_leaves():
    tree = await built("# Parks\n\nIntro.\n\n## Rides\n\nFast.\n\nTall.\n\n## Food\n\nHot.\n")
    assert outline(tree) == ["0 Parks", "1 'Intro.'", "1 Rides", "2 'Fast.'", "2 'Tall.'", "1 Food", "2 'Hot.'"]
    tree = await built("# Parks\n\n## Rides\n\n### Old\n\nFast.\n")
    assert [n.text for n in tree.nodes[tree.leaves :]] == ["Parks > Rides > Old", "Parks > Rides", "Parks"]


async def test_text_before_the_heading_that_is_the_title_keeps_the_section_below_the_root():
    tree = await built("Before.\n\n# Parks\n\nFast.\n", title="Parks")
    assert outline(tree) == ["0 Parks", "1 'Before.'", "1 Parks", "2 'Fast.'"]


async def test_without_headings_all_leaves_are_under_the_title_and_without_text_the_innermost_are_leaves():
    tree = await built("One.\n\nTwo.\n", markup=Markup.NONE)
    assert outline(tree) == ["0 Parks", "1 'One.'", "1 'Two.'"]
    tree = await built("# Parks\n\n## Rides\n\n## Food\n\n### Hot\n")
    assert outline(tree) == ["0 Parks", "1 Rides", "2 '## Rides'", "1 Food", "2 Hot", "3 '### Hot'"]


async def test_a_paragraph_beyond_the_window_is_cut_between_sentences_and_a_sentence_between_words():
    tree = await built("One two three four. Five six seven eight. Nine ten eleven twelve.\n", window=14)
    assert [n.text for n in tree.nodes[: tree.leaves]] == [
        "One two three four. Five six seven eight.",
        "Nine ten eleven twelve.",
    ]
    words = [f"w{i}" for i in range(25)]
    tree = await built(" ".join(words), window=12)
    assert [n.text.split() for n in tree.nodes[: tree.leaves]] == [words[i : i + 5] for i in range(0, 25, 5)]


@pytest.mark.parametrize("unit", ["unbelievablyLong/", "漢字", "supercalifragilistic", "so_longwords ", "1.2;"])
async def test_long_text_of_any_words_is_cut_into_pieces_that_the_encoder_reads(unit: str):
    tokens = PackagedTokens()
    document = Document(uri="u", title=unit * 300, text=unit * 900)
    source = Source(document=document, hierarchy=build_hierarchy(document))
    tree = (await HeadingBuilder(tokens).build(source)).tree
    assert max(tokens.counts([n.text for n in tree.nodes])) <= tokens.max_tokens
    parts = [word for node in tree.nodes[: tree.leaves] for word in node.text.split()]
    assert "".join(parts) == "".join(document.text.split())
