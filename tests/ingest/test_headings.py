from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.segment.headings import build_hierarchy, is_heading
from discorag.schema.document import Document, Hierarchy, Kind


def document(text: str, media_type: str = "text/markdown") -> Document:
    return Document(uri="u", title="t", text=text, media_type=media_type)


def texts(text: str, kind: Kind, media_type: str = "text/markdown") -> list[str]:
    hierarchy = build_hierarchy(document(text, media_type))
    return [node.span.of(text) for _, node in hierarchy.of_kind(kind)]


def sections(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    return [hierarchy.headings(i) for i, _ in hierarchy.of_kind(Kind.SECTION)]


def assert_sentences_cover(text: str, hierarchy: Hierarchy) -> None:
    at = 0
    for _, node in hierarchy.of_kind(Kind.SENTENCE):
        assert not text[at : node.span.start].strip()
        assert node.span.of(text) == node.span.of(text).strip()
        at = node.span.end
    assert not text[at:].strip()


LINES = st.sampled_from((
    "# One", "## Two *b*", "#", "Text. More text", "lower case", "===", "---", "- item", "  - nested", "1. first",
    "> quote", "> # in quote", "```", "~~~ python", "    code", "| a | b |", "|---|---|", "[a]: http://b", "<div>",
    "</div>", "<!-- c", "-->", "", "", " ", "\t", "你好。再见！", "\x0b", "\u3000", "a\rb", "\x00", "$$", "x\\",
))  # fmt: skip
MARKDOWN = st.lists(LINES, min_size=1, max_size=30).map("\n".join).filter(bool)


@given(st.one_of(st.text(min_size=1, max_size=200), MARKDOWN), st.sampled_from(["text/plain", "text/markdown"]))
def test_every_visible_character_lies_in_exactly_one_sentence(text: str, media_type: str) -> None:
    assert_sentences_cover(text, build_hierarchy(document(text, media_type)))


@given(MARKDOWN)
def test_every_inner_node_but_the_document_starts_and_ends_with_its_children(text: str) -> None:
    nodes = build_hierarchy(document(text)).nodes
    for i, node in enumerate(nodes):
        children = [n for n in nodes if n.parent == i]
        if i and node.kind is not Kind.SENTENCE:
            assert (children[0].span.start, children[-1].span.end) == (node.span.start, node.span.end)


def test_sections_nest_by_level_and_hold_their_text() -> None:
    text = "Intro.\n\n# A\n\na\n\n### B\n\nb\n\n## C\n\nc\n\n# D\n\nd\n"
    hierarchy = build_hierarchy(document(text))
    assert sections(hierarchy) == [("A",), ("A", "B"), ("A", "C"), ("D",)]
    spans = [node.span.of(text) for _, node in hierarchy.of_kind(Kind.SECTION)]
    assert spans == ["# A\n\na\n\n### B\n\nb\n\n## C\n\nc", "### B\n\nb", "## C\n\nc", "# D\n\nd"]


def test_setext_headings_are_headings_without_their_underline_in_the_name() -> None:
    hierarchy = build_hierarchy(document("Main\n====\n\ntext\n\nSub\ntitle\n---\n"))
    assert sections(hierarchy) == [("Main",), ("Main", "Sub title")]


def test_headings_in_code_quotes_and_lists_make_no_section() -> None:
    text = "```\n# code\n```\n\n    # indented\n\n> # quoted\n\n- # listed\n\n\\# escaped\n"
    assert sections(build_hierarchy(document(text))) == []


def test_heading_is_one_sentence_in_a_paragraph_of_its_own_and_known_as_heading() -> None:
    text = "# A. B? C *d*\ntext. More.\n"
    hierarchy = build_hierarchy(document(text))
    assert texts(text, Kind.PARAGRAPH) == ["# A. B? C *d*", "text. More."]
    assert texts(text, Kind.SENTENCE) == ["# A. B? C *d*", "text.", "More."]
    assert hierarchy.nodes[1].heading == "A. B? C d"
    assert [is_heading(hierarchy, i) for i, _ in hierarchy.of_kind(Kind.SENTENCE)] == [True, False, False]


def test_list_table_and_code_are_one_paragraph_each_and_lists_and_tables_split_by_item_and_row() -> None:
    listed, table, code = "- one. Two\n\n- three", "| a | b |\n|---|---|\n| 1. C | 2 |", "```\nx = 1. A\n\ny\n```"
    text = f"{listed}\n\n{table}\n\n{code}\n"
    assert texts(text, Kind.PARAGRAPH) == [listed, table, code]
    assert texts(text, Kind.SENTENCE) == ["- one.", "Two", "- three", *table.split("\n"), code]
    nodes = build_hierarchy(document(text)).of_kind(Kind.PARAGRAPH)
    assert [node.by_line for _, node in nodes] == [False, True, True]


def test_lines_of_unwrapped_plain_text_are_paragraphs() -> None:
    lines = ["标题", "本行及董事会全体成员保证信息披露的内容真实。" * 10, "第三"]
    assert texts("\n".join(lines), Kind.PARAGRAPH, "text/plain") == lines
