from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.ingest.segment.chunks import MAX_CHARS_PER_TOKEN, cut_chunks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.tokens import PackagedTokens
from discorag.schema.document import Chunk, Document, Kind, Markup, Scope
from discorag.schema.errors import ConfigError

SCOPE = Scope(tenant="t", corpus="c")
COUNTER = PackagedTokens()


def chunks_of(text: str, size: int = 256, *, scope: Scope = SCOPE, key: str = "f") -> list[Chunk]:
    document = Document(uri="u", title="T", text=text, markup=Markup.INLINE, metadata={"year": "2020"})
    return cut_chunks(
        document, build_hierarchy(document), scope=scope, fingerprint=key, counter=COUNTER, chunk_tokens=size
    )


def assert_sound(text: str, chunks: list[Chunk], size: int) -> None:
    budget = size - COUNTER.special_tokens
    counts = [len(offsets) for offsets in COUNTER.token_offsets([c.text for c in chunks])]
    assert all(count <= budget for count in counts)
    assert all(len(c.text) <= budget * MAX_CHARS_PER_TOKEN for c in chunks)
    at = 0
    for i, chunk in enumerate(chunks):
        assert chunk.order == i
        assert chunk.text == chunk.span.of(text)
        assert (chunk.sentences[0].start, chunk.sentences[-1].end) == (chunk.span.start, chunk.span.end)
        for span in chunk.sentences:
            assert not text[at : span.start].strip()
            at = span.end
    assert not text[at:].strip()


PIECES = (
    "the", "cat.", "Dr.", "e.g.", "#", "-", "\n", "\n\n", "你好", "。", "，", "😀", "👩\u200d👩\u200d👧", "!", "\x01",
    "é", "antidisestablishmentarianism", "|", "$$", "\u200b", "\ufffd", "\n\n# Head\n\n", "qzv", ".Qzvk",
    " " * 200, "x" * 99, "x" * 101, "é" * 150, "，" * 40, "-" * 60, "ﬁﬃ" * 30, "e" + "\u0301" * 50,
)  # fmt: skip
WORDS = st.sampled_from(PIECES)


@given(
    st.one_of(
        st.lists(WORDS, min_size=1, max_size=120).map("".join),
        st.lists(WORDS, min_size=1, max_size=120).map(" ".join),
        st.text(min_size=1, max_size=400),
    ),
    st.sampled_from([16, 32, 256]),
)
def test_chunks_fit_the_window_and_hold_every_visible_character_once(text: str, size: int) -> None:
    assert_sound(text, chunks_of(text, size), size)


ENGLISH = "The tide rises twice a day. It falls as often! Why is that so? The Moon pulls at the sea. "
CHINESE = "绿茶是用茶树的嫩芽制成的不发酵茶。鲜叶采下以后，先用高温杀青！茶叶能保持绿色吗？"
EMOJI = "I like it 😀😀 a lot 👍🏽. Then 👩‍👩‍👧 came. 🎉! "


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, EMOJI, ENGLISH + CHINESE + EMOJI], ids=["en", "zh", "emoji", "mix"])
def test_whole_sentences_fill_the_window(text: str) -> None:
    text = text * 60
    chunks = chunks_of(text)
    document = Document(uri="u", title="T", text=text, markup=Markup.INLINE)
    sentences = [node.span for _, node in build_hierarchy(document).of_kind(Kind.SENTENCE)]
    assert_sound(text, chunks, 256)
    assert [s for c in chunks for s in c.sentences] == sentences
    for chunk, following in pairwise(chunks):
        [longer] = COUNTER.token_offsets([text[chunk.span.start : following.sentences[0].end]])
        assert len(longer) > 254


@pytest.mark.parametrize(
    ("text", "ends", "pieces"),
    [
        ("and then the ship sailed on to the west, " * 40, ",", 2),
        ("unbelievable " * 400, "unbelievable", 3),
        ("春茶的氨基酸通常较多，" * 60, "，", 3),
        ("```\n" + "value = other(x)\n" * 60 + "```", ")", 2),
    ],
    ids=["clauses", "white space", "Chinese", "code"],
)
def test_a_long_sentence_is_cut_where_it_reads_best(text: str, ends: str, pieces: int) -> None:
    chunks = chunks_of(text)
    assert len(chunks) == pieces
    assert all(c.text.endswith(ends) for c in chunks[:-1])


def test_an_endless_word_is_bounded_by_characters_though_it_is_one_token() -> None:
    text = "x" * 10_000
    assert len(COUNTER.token_offsets([text])[0]) == 1
    assert [len(c.text) for c in chunks_of(text)] == [2032, 2032, 2032, 2032, 1872]


def test_heading_opens_the_next_chunk_instead_of_closing_one() -> None:
    text = f"# A\n\n{'word ' * 180}end.\n\n## B\n\n### C\n\n{'more ' * 100}end.\n"
    first, second = chunks_of(text)
    assert first.text.endswith("end.")
    assert second.text.startswith("## B\n\n### C\n\nmore")
    assert (first.headings, second.headings) == (("A",), ("A", "B"))


def test_short_sections_share_a_chunk_with_paragraph_starts() -> None:
    [chunk] = chunks_of("# A\n\nOne. Two.\n\n# B\n\nThree.\n")
    assert (chunk.title, chunk.metadata, chunk.page, chunk.page_breaks) == ("T", {"year": "2020"}, None, ())
    assert [chunk.slice(s) for s in chunk.sentences] == ["# A", "One.", "Two.", "# B", "Three."]
    assert chunk.paragraph_starts == (1, 3, 4)


def test_ids_repeat_for_the_same_input_and_differ_by_order_scope_and_fingerprint() -> None:
    text = ENGLISH * 30
    ids = [c.id for c in chunks_of(text)]
    assert ids == [c.id for c in chunks_of(text)]
    other_scope = [c.id for c in chunks_of(text, scope=Scope(tenant="other"))]
    other_key = [c.id for c in chunks_of(text, key="g")]
    assert len({*ids, *other_scope, *other_key}) == 3 * len(ids)


@pytest.mark.parametrize("size", [257, 2])
def test_window_beyond_the_encoder_or_without_room_is_refused(size: int) -> None:
    with pytest.raises(ConfigError, match=rf"{size} tokens do not fit.*256.*CHUNK_TOKENS"):
        chunks_of("text", size)


def table_of(rows: int, words: int) -> str:
    return "| a | b |\n|---|---|\n" + f"| {'cell ' * words}| x |\n" * rows


def code_of(lines: int) -> str:
    return "```\n" + "value = other(x)\n\n" * lines + "```\n"


def prose_of(sentences: int) -> str:
    return "The tide rises. " * sentences + "\n"


BLOCKS = st.lists(
    st.one_of(
        st.builds(table_of, st.integers(1, 30), st.integers(1, 9)),
        st.builds(code_of, st.integers(1, 30)),
        st.builds(prose_of, st.integers(1, 60)),
        st.just("## A heading\n"),
    ),
    min_size=1,
    max_size=8,
)


@given(BLOCKS, st.sampled_from([32, 64, 256]))
def test_a_table_or_code_block_that_fits_a_chunk_is_in_one_chunk(parts: list[str], size: int) -> None:
    text = "\n".join(parts)
    chunks = chunks_of(text, size)
    assert_sound(text, chunks, size)
    hierarchy = build_hierarchy(Document(uri="u", title="T", text=text, markup=Markup.INLINE))
    budget = size - COUNTER.special_tokens
    sentences = [node.span for _, node in hierarchy.of_kind(Kind.SENTENCE)]
    whole = [
        s for s in sentences if len(COUNTER.token_offsets([s.of(text)])[0]) <= budget and len(s.of(text)) <= 8 * budget
    ]
    assert set(whole) <= {s for c in chunks for s in c.sentences}
    for _, node in hierarchy.of_kind(Kind.PARAGRAPH):
        [tokens] = COUNTER.token_offsets([node.span.of(text)])
        if node.by_line and len(tokens) <= budget and node.span.end - node.span.start <= budget * MAX_CHARS_PER_TOKEN:
            assert sum(c.span.start < node.span.end and node.span.start < c.span.end for c in chunks) == 1


def test_a_long_table_is_cut_between_rows_and_its_later_pieces_carry_the_header_row() -> None:
    rows = "".join(f"| {year} | {year % 7} m |\n" for year in range(1900, 2000))
    text = f"# Tides\n\n| Year | Range |\n|---|---|\n{rows}\nThe end.\n"
    chunks = chunks_of(text)
    assert len(chunks) > 2
    assert all(c.text.split("\n")[-1].endswith(" m |") for c in chunks[:-1])
    assert [c.columns for c in chunks] == ["", *["| Year | Range |"] * (len(chunks) - 1)]


def test_chunks_know_their_pages() -> None:
    text = f"{'One. ' * 150}\n\n{'Two. ' * 10}\n\n{'Four. ' * 200}"
    pages = (0, text.index("Two"), text.index("Four"), text.index("Four"))
    document = Document(uri="u", title="T", text=text, pages=pages)
    chunks = cut_chunks(document, build_hierarchy(document), scope=SCOPE, fingerprint="f", counter=COUNTER)
    assert {text[s.start : s.end]: c.page_at(s.start) for c in chunks for s in c.sentences} == {
        "One.": 1,
        "Two.": 2,
        "Four.": 4,
    }
    assert all(c.page_at(s.start) == document.page_at(s.start) for c in chunks for s in c.sentences)


def test_kinds_leads_and_headings_of_units_are_stored_and_a_later_piece_of_a_turn_knows_who_speaks() -> None:
    text = "# Tides\n\nBring:\n\n- a boat\n\n## Neap\n\nThey are weak.\n"
    [chunk] = chunks_of(text)
    assert [str(kind) for kind in chunk.kinds] == ["heading", "prose", "item", "heading", "prose"]
    assert chunk.leads == (None, None, chunk.sentences[1].start, None, None)
    assert [chunk.headings_at(s.start) for s in chunk.sentences] == [*[("Tides",)] * 3, *[("Tides", "Neap")] * 2]
    talk = f"Ada: {'The cork is dry today. ' * 60}\n\nBo: Right.\n\nAda: Good.\n\nBo: Fine.\n"
    assert [c.columns for c in chunks_of(talk)][:2] == ["", "Ada"]
