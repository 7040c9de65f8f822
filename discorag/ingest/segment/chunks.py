"""Chunks: whole sentences, as many as the encoder's window holds (Disco-RAG section 4: 256 tokens)."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain, groupby

from discorag.ingest.segment.layout import speaker_of
from discorag.models.protocol import TokenCounter
from discorag.schema.document import Chunk, Document, Hierarchy, Kind, Node, Scope, UnitKind
from discorag.schema.errors import ConfigError
from discorag.schema.values import Span, stable_id
from discorag.text.sentences import stripped

SPLITTER_VERSION = f"11+sentencex-{version('sentencex')}+markdown-it-{version('markdown-it-py')}"
# WordPiece makes one [UNK] token of a word of any length beyond 100 characters: token counts alone bound nothing.
MAX_CHARS_PER_TOKEN = 8
_BATCH = 1000
_CLAUSE_END = re.compile(r"[,;:.!?)\]][\"”’]?(?=\s)|[，；：、。！？）】]")
_SPACE = re.compile(r"\s+")
_LINE_END = re.compile(r"\n")
_ENDS = (_CLAUSE_END, _SPACE)
_ENDS_OF_LINES = (_LINE_END, _SPACE)
_MAX_COLUMNS = 300


@dataclass(frozen=True)
class _Unit:
    """A sentence, ``node``, which has this index in the hierarchy, or a piece of one."""

    span: Span
    tokens: int
    index: int
    node: Node
    by_line: bool


def cut_chunks(
    document: Document,
    hierarchy: Hierarchy,
    *,
    scope: Scope,
    fingerprint: str,
    counter: TokenCounter,
    chunk_tokens: int = 256,
) -> list[Chunk]:
    """Cut a document into chunks of whole sentences, greedily, without overlap.

    Every sentence is in exactly one chunk, in order. A sentence longer than a chunk is cut into pieces after clause
    punctuation, else at white space, else between tokens. A table or a code block that fits a chunk is in one chunk; a
    longer one is cut between rows. A heading opens a chunk rather than close one. A chunk's text has at most
    ``chunk_tokens`` tokens, special ones included, and `MAX_CHARS_PER_TOKEN` characters for each token that is not
    special.

    Args:
        document: What to cut.
        hierarchy: Its structure, from `discorag.ingest.segment.headings.build_hierarchy`.
        scope: Part of the ids.
        fingerprint: Key of content and versions (`discorag.schema.values.fingerprint`); part of the ids.
        counter: The encoder's tokenizer.
        chunk_tokens: Window in tokens, special tokens included.

    Raises:
        ConfigError: ``chunk_tokens`` exceeds the encoder's window, or leaves no room next to its special tokens.

    Source: Disco-RAG section 4 (chunks of 256 tokens).
    """
    budget = _budget(counter, chunk_tokens)
    units = list(_units(document, hierarchy, counter, budget))
    groups = _verified(document.text, _pack(units, budget), counter, budget)
    return [_chunk(document, hierarchy, scope, fingerprint, i, group) for i, group in enumerate(groups)]


def whole_chunk(document: Document, hierarchy: Hierarchy) -> Chunk:
    """The document as one chunk of any length, to be parsed and not stored; arguments as of `cut_chunks`."""
    units = [_unit(hierarchy, index, node, 0) for index, node in hierarchy.of_kind(Kind.SENTENCE)]
    return _chunk(document, hierarchy, Scope(), "", 0, units)


def chunk_id(doc_id: str, fingerprint: str, order: int) -> str:
    """The id of a document's chunk; it changes with the fingerprint."""
    return stable_id(doc_id, fingerprint, "flat_chunk", order)


def _budget(counter: TokenCounter, chunk_tokens: int) -> int:
    if not counter.special_tokens < chunk_tokens <= counter.max_tokens:
        raise ConfigError(
            f"Chunks of {chunk_tokens} tokens do not fit the encoder's window of {counter.max_tokens}.",
            hint=f"Set DISCO_RAG_READING__CHUNK_TOKENS between {counter.special_tokens + 1} and {counter.max_tokens}, "
            "or DISCO_RAG_ENCODER__TOKENIZER (and __MAX_TOKENS) to those of the model that the endpoint serves.",
        )
    return chunk_tokens - counter.special_tokens


def _units(document: Document, hierarchy: Hierarchy, counter: TokenCounter, budget: int) -> Iterator[_Unit]:
    """The document's sentences with their token counts; pieces of those that exceed the budget."""
    sentences = hierarchy.of_kind(Kind.SENTENCE)
    texts = (node.span.of(document.text) for _, node in sentences)
    for (index, node), offsets in zip(sentences, _token_offsets(counter, texts), strict=True):
        unit = _unit(hierarchy, index, node, len(offsets))
        if _fits([unit], len(offsets), budget):
            yield unit
            continue
        text, starts = node.span.of(document.text), [start for start, _ in offsets]
        pieces = list(_pieces(text, starts, budget, _ENDS_OF_LINES if node.unit is UnitKind.CODE else _ENDS))
        counts = map(len, _token_offsets(counter, [p.of(text) for p in pieces]))
        for piece, tokens in zip(pieces, counts, strict=True):
            yield replace(unit, span=piece.shifted(node.span.start), tokens=tokens)


def _unit(hierarchy: Hierarchy, index: int, node: Node, tokens: int) -> _Unit:
    return _Unit(node.span, tokens, index, node, hierarchy.nodes[node.parent or 0].by_line)


def _token_offsets(counter: TokenCounter, texts: Iterable[str]) -> Iterator[list[tuple[int, int]]]:
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if len(batch) == _BATCH:
            yield from counter.token_offsets(batch)
            batch = []
    if batch:
        yield from counter.token_offsets(batch)


def _fits(units: Sequence[_Unit], tokens: int, budget: int) -> bool:
    return tokens <= budget and units[-1].span.end - units[0].span.start <= budget * MAX_CHARS_PER_TOKEN


def _pieces(text: str, starts: Sequence[int], budget: int, ends: Sequence[re.Pattern[str]]) -> Iterator[Span]:
    """Pieces of an overlong sentence; ``starts`` are the starts of its tokens, ``ends`` where best to cut."""
    at = 0
    while at < len(text):
        following = bisect_left(starts, at) + budget
        end = min(starts[following] if following < len(starts) else len(text), at + budget * MAX_CHARS_PER_TOKEN)
        if end < len(text):
            end = _boundary(text, at, end, starts, ends)
        span = stripped(text, at, end)
        if span:
            yield span
        at = end


def _boundary(text: str, start: int, end: int, starts: Sequence[int], ends: Sequence[re.Pattern[str]]) -> int:
    """The best place to cut in the second half of ``[start, end]``, always after ``start``."""
    half = start + (end - start) // 2
    for pattern in ends:
        matches = [m.end() for m in pattern.finditer(text, half, end)]
        if matches:
            return matches[-1]
    token = bisect_right(starts, end) - 1
    return starts[token] if token >= 0 and starts[token] > half else max(end, start + 1)


def _pack(units: Sequence[_Unit], budget: int) -> list[list[_Unit]]:
    groups: list[list[_Unit]] = []
    group: list[_Unit] = []
    tokens = 0
    for block in _blocks(units, budget):
        size = _tokens(block)
        if group and not _fits([group[0], *block], tokens + size, budget):
            carried = _carried(group, block, budget)
            groups.append(group[: len(group) - len(carried)])
            group = carried
            tokens = _tokens(carried)
        group += block
        tokens += size
    return [*groups, group] if group else groups


def _blocks(units: Iterable[_Unit], budget: int) -> Iterator[list[_Unit]]:
    """What is not split: a table or a code block that fits a chunk, else each unit by itself."""
    for _, paragraph in groupby(units, key=lambda u: u.node.parent):
        block = list(paragraph)
        if block[0].by_line and _fits(block, _tokens(block), budget):
            yield block
        else:
            yield from ([unit] for unit in block)


def _tokens(units: Iterable[_Unit]) -> int:
    return sum(unit.tokens for unit in units)


def _carried(group: list[_Unit], following: list[_Unit], budget: int) -> list[_Unit]:
    """The headings at the end of a group that can open the next one together with ``following``."""
    at = len(group)
    while at and group[at - 1].node.unit is UnitKind.HEADING:
        at -= 1
    opening = [*group[at:], *following]
    return group[at:] if at and _fits(opening, _tokens(opening), budget) else []


def _verified(text: str, groups: list[list[_Unit]], counter: TokenCounter, budget: int) -> list[list[_Unit]]:
    """Halve each group whose text as a whole has too many tokens: a sum over sentences can be too low."""
    texts = [text[g[0].span.start : g[-1].span.end] for g in groups]
    done: list[list[_Unit]] = []
    for group, offsets in zip(groups, _token_offsets(counter, texts), strict=True):
        if len(offsets) <= budget or (len(group) == 1 and group[0].span.end - group[0].span.start == 1):
            done.append(group)
        else:
            done += _verified(text, _halves(text, group, budget), counter, budget)
    return done


def _halves(text: str, group: list[_Unit], budget: int) -> list[list[_Unit]]:
    blocks = list(_blocks(group, budget))
    parts = blocks if len(blocks) > 1 else [[unit] for unit in group]
    if len(parts) > 1:
        middle = len(parts) // 2
        return [list(chain.from_iterable(half)) for half in (parts[:middle], parts[middle:])]
    span = group[0].span
    middle = (span.start + span.end) // 2
    spans = [stripped(text, span.start, middle), stripped(text, middle, span.end)]
    return [[replace(group[0], span=s)] for s in spans if s]


def _chunk(
    document: Document, hierarchy: Hierarchy, scope: Scope, fingerprint: str, order: int, group: list[_Unit]
) -> Chunk:
    span = Span(start=group[0].span.start, end=group[-1].span.end)
    doc_id = document.id_in(scope)
    starts = (i for i in range(1, len(group)) if group[i].node.parent != group[i - 1].node.parent)
    leads = tuple(u.node.lead for u in group)
    return Chunk(
        id=chunk_id(doc_id, fingerprint, order),
        doc_id=doc_id,
        order=order,
        span=span,
        text=span.of(document.text),
        sentences=tuple(u.span for u in group),
        paragraph_starts=tuple(starts),
        kinds=tuple(u.node.unit for u in group),
        leads=leads if any(lead is not None for lead in leads) else (),
        sections=tuple(_sections(hierarchy, group)),
        title=document.title,
        headings=hierarchy.headings(group[0].index),
        page=document.page_at(span.start),
        page_breaks=tuple(page for page in document.pages if span.start < page < span.end),
        markup=document.markup,
        columns=_columns(document, group[0]),
        metadata=document.metadata,
    )


def _sections(hierarchy: Hierarchy, group: Sequence[_Unit]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where the headings around a unit differ from those around the one before it, and what they are."""
    before = hierarchy.headings(group[0].index)
    for unit in group[1:]:
        headings = hierarchy.headings(unit.index)
        if headings != before:
            yield unit.span.start, headings
        before = headings


def _columns(document: Document, first: _Unit) -> str:
    """The header row of the table that ``first`` is a later row of, or the speaker of its turn; else empty."""
    unit, lead = first.node.unit, first.node.lead
    if lead is None or unit not in {UnitKind.ROW, UnitKind.TURN}:
        return ""
    line = document.text[lead : lead + _MAX_COLUMNS].split("\n", 1)[0]
    return (line if unit is UnitKind.ROW else speaker_of(line)).strip()
