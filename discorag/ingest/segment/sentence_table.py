"""The sentences of a question's chunks, its units, with their vectors and their weight in the tree."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, takewhile

from discorag.ingest.segment.layout import speaker_of, without_speaker
from discorag.ingest.segment.questions import ASKS
from discorag.ingest.segment.reading import quote
from discorag.ingest.segment.verbs import has_verb
from discorag.models.memo import pack_vectors
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk, UnitKind
from discorag.schema.values import Span, Vectors
from discorag.text.cues import REFERS_BACK
from discorag.text.sentences import CJK, ITEM, language_of

_HEADING = re.compile(r"^#{1,6}\s")
_ENDING = re.compile(r"[.!。！…][\"'”’)\]」』*_]*$")
_LEADS_IN = (":", "：")
_OPEN = (*_LEADS_IN, *ASKS, ",", "，")
_ANNOUNCES = re.compile(r"\bfollowing\b|\bas follows\b|以下|如下|[:：]$", re.IGNORECASE)
_MAX_GROUP = 8  # items, or blocks of code, that are quoted with what introduces them
_MAX_BEFORE = 2  # sentences that one which refers back is quoted with
_MAX_ASSENT = 2  # words of an answer that says only yes or no
_VALUE = re.compile(r"[*_`]*(?:default(?: value)?|type|unit|range|默认值?|类型|取值)\W*[:：].{1,80}", re.IGNORECASE)
_DEFAULT = re.compile(
    r"(?:(?:the|its) )?default(?: value| setting)? is\b|by default\b|defaults to\b|if (?:not specified|unset)\b|默认",
    re.IGNORECASE,
)
_MAX_TO_DEFAULT = 2  # sentences from an option's description to its default that are quoted with it
_MAX_ENTRY = 3  # sentences of an entry that are quoted together,
_MAX_ENTRY_WORDS = 60  # and their words
_CREDIT = re.compile(r"\w+ by [A-Z]")  # "Written by Ada Berg."
_SAYS_A_VALUE = re.compile(r"(?:：|: ).*\w")
_MAX_PREFIX = 100
_CHINESE_MARK = re.compile(r"[,，;；:：](?=\S)|[；;]$")
_WORD = re.compile(rf"{CJK.pattern}|[^\W_]+")
_LONG = {UnitKind.PROSE: 8, UnitKind.ITEM: 8, UnitKind.TURN: 5}
"""Words from which a sentence says something even if nothing ends it: transcripts and filings often lack the stop."""
_INTRODUCED = frozenset({UnitKind.ITEM, UnitKind.CODE})
_STATED = frozenset({UnitKind.PROSE, UnitKind.ITEM, UnitKind.ROW, UnitKind.CODE, UnitKind.TURN})
_CHUNKS_AT_ONCE = 512  # whose units are encoded together: their vectors take twice the memory of what is kept of them
_AT_ONCE = 1000  # texts that are tokenized: the places of their tokens take far more memory than they


@dataclass(frozen=True)
class Sentence:
    """One unit: its chunk's number and its own (both one-based), and its text.

    Args:
        chunk: Number of its chunk.
        number: Its own in the chunk.
        span: Its characters in the document.
        text: As the source has it.
        body: Its words on one line, as `discorag.ingest.segment.reading.quote` has them, without its prefix.
        kind: What it is by its layout.
        headings: Those around it, outermost first.
        lead: Index in the table of the unit that introduces it: a list's lead-in, the sentence before code, a header
            row, the first unit of its turn, the question right above prose; None if there is none or it is not in the
            table.
        prefix: What it is read with: the speaker, or the heading that an item stands under.
        introduces: Whether code or items stand below it that it introduces.
        read_with: Where the prefix or the header stands in the chunk, outside the unit's own span, if it does.
    """

    chunk: int
    number: int
    span: Span
    text: str
    body: str
    kind: UnitKind = UnitKind.PROSE
    headings: tuple[str, ...] = ()
    lead: int | None = None
    prefix: str = ""
    introduces: bool = False
    read_with: tuple[Span, ...] = ()

    @property
    def question(self) -> str:
        """The innermost heading around it, if it asks."""
        return self.headings[-1] if self.headings and self.headings[-1].endswith(ASKS) else ""

    @property
    def section(self) -> str:
        """The heading above that of its entry, such as "OPTIONS": it says what the entry is; empty outside of one."""
        above = self.headings[-2] if self.kind is UnitKind.ITEM and self.prefix and len(self.headings) > 1 else ""
        return "" if above in self.prefix else above

    @property
    def answers(self) -> bool:
        """Whether it is the first sentence below a heading that asks: "No." is an answer too."""
        return self.kind is UnitKind.PROSE and self.lead is not None

    @cached_property
    def statement(self) -> bool:
        """Whether it can be a sentence of an answer: it says something and is no heading, question or label."""
        if self.kind not in _STATED or _HEADING.match(self.text) or not any(map(str.isalpha, self.plain)):
            return False
        if self.kind is UnitKind.CODE or self.answers:
            return True
        if self.kind is UnitKind.ROW:
            return bool(_SAYS_A_VALUE.search(self.body))
        words = len(_WORD.findall(self.body))
        if self.kind is UnitKind.ITEM and not self.text.endswith(_LEADS_IN + ASKS):
            return words > 2
        if self.body.endswith(_OPEN):
            return self.introduces and words > 2 and self.body.endswith(_LEADS_IN)
        if not (words > 1 and _ENDING.search(self.body)) and words < _LONG[self.kind]:
            return False
        return self.kind is UnitKind.ITEM or self._is_sentence

    @property
    def _is_sentence(self) -> bool:
        """Whether it is written as a sentence is, from a capital to a full stop, or has a verb; never all capitals.

        A Chinese one has a mark at its end or within it, which most headings and lines of navigation lack.
        """
        text, words = self.body, self.body.split()
        if 2 * len(CJK.findall(text)) > len(text):
            return bool(_ENDING.search(text) or _CHINESE_MARK.search(text))
        if text.isupper() or (text.startswith(("(", "（")) and text.endswith((")", "）"))):
            return False
        begins = text[0].isupper() or not (text[0].isalnum() or text.startswith("("))
        shouted = 2 * sum(word[0].isupper() for word in words) > len(words) and not _CREDIT.match(text)
        written = begins and bool(_ENDING.search(text)) and not shouted
        return (written and self.kind is not UnitKind.TURN) or has_verb(text)

    @property
    def plain(self) -> str:
        """How it reads as prose on one line."""
        return self.prefix + self.body

    @property
    def shown_prefix(self) -> str:
        """Its prefix if an answer quotes it: a heading only where its place is known."""
        return self.prefix if self.kind is UnitKind.TURN or self.read_with else ""


@dataclass(frozen=True)
class SentenceTable:
    """All units of a question's inputs in chunk order, with their unit vectors, shape (n, d)."""

    sentences: tuple[Sentence, ...]
    vectors: Vectors

    def of_chunk(self, number: int) -> list[int]:
        """Indices of the units of chunk ``number``."""
        return [i for i, u in enumerate(self.sentences) if u.chunk == number]

    def index(self, chunk: int, number: int) -> int | None:
        """Index of unit ``number`` of chunk ``chunk``, None if there is none."""
        return next((i for i, u in enumerate(self.sentences) if (u.chunk, u.number) == (chunk, number)), None)

    def group(self, i: int) -> range:
        """Indices of unit ``i`` and, if it announces a list or code ("as follows:"), of what it announces."""
        end = i + 1
        if _ANNOUNCES.search(self.sentences[i].text):
            while end < len(self.sentences) and self._continues(i, end):
                end += 1
        return range(i, min(end, i + 1 + _MAX_GROUP))

    def passage(self, i: int) -> range:
        """Indices of unit ``i`` and its neighbours that are quoted too.

        They are what it refers back to, the question that it answers, the first sentences of its item, definition or
        option, a line such as "Default: 4", and the sentence that states an option's default.
        """
        entry = self._entry(i)
        chunk, first, end = self.sentences[i].chunk, entry.start, entry.stop
        while first > max(0, i - _MAX_BEFORE) and self._is_prose_of(chunk, first - 1) and self._needs_before(first):
            first -= 1
        if self.sentences[first].answers:
            first = self.sentences[first].lead or 0
        while end < len(self.sentences) and self._is_value_of(chunk, end):
            end += 1
        return range(first, self._end_of_default(i, range(first, end)))

    def _entry(self, i: int) -> range:
        """Indices of unit ``i`` and of what is quoted of its entry: the first sentences, or those after it.

        The value of an option or a term often stands in the sentence after the one that says what it is.
        """
        lead = self.sentences[i].lead
        first = lead if lead is not None and self._goes_on(lead, i) else i
        start = first if i < first + _MAX_ENTRY else i
        end, words = start + 1, len(self.sentences[start].body.split())
        while end < min(start + _MAX_ENTRY, len(self.sentences)) and self._goes_on(first, end):
            words += len(self.sentences[end].body.split())
            if end > i and words > _MAX_ENTRY_WORDS:
                break
            end += 1
        return range(start, end)

    def _goes_on(self, first: int, j: int) -> bool:
        """Whether unit ``j`` is a further sentence of the entry that unit ``first`` opens."""
        opening, unit = self.sentences[first], self.sentences[j]
        is_next = unit.lead == first and unit.chunk == opening.chunk and not ITEM.match(unit.text)
        return is_next and opening.kind is unit.kind is UnitKind.ITEM

    def _end_of_default(self, i: int, quoted: range) -> int:
        """The end of the sentence on the default of the option that unit ``i`` describes, else of what is quoted."""
        unit, end = self.sentences[i], quoted.stop
        last = min(end + _MAX_TO_DEFAULT, len(self.sentences))
        if unit.kind is not UnitKind.ITEM or not unit.headings or "default" in self.quote(quoted).lower():
            return end
        entry = takewhile(lambda j: _entry_of(self.sentences[j]) == _entry_of(unit), range(end, last))
        return next((j + 1 for j in entry if _DEFAULT.match(self.sentences[j].body)), end)

    def refers_back(self, i: int) -> bool:
        """Whether unit ``i`` opens with a word for something in the sentence before it: "It ...", "However, ..."."""
        unit = self.sentences[i]
        return unit.kind is UnitKind.PROSE and not unit.answers and bool(REFERS_BACK.match(unit.body))

    def _needs_before(self, i: int) -> bool:
        """Whether unit ``i`` refers to the unit before it, or follows an answer such as "Yes." or "No, sorry."."""
        before = self.sentences[i - 1]
        return self.refers_back(i) or (before.answers and len(before.body.split()) <= _MAX_ASSENT)

    def quoted_units(self, passage: range) -> list[Sentence]:
        """The units of a passage that are quoted: all but furniture."""
        return [unit for unit in self.sentences[passage.start : passage.stop] if unit.kind is not UnitKind.FURNITURE]

    def quote(self, passage: range) -> str:
        """The words of a passage, without prefixes."""
        return " ".join(unit.body for unit in self.quoted_units(passage))

    def _is_prose_of(self, chunk: int, i: int) -> bool:
        unit = self.sentences[i]
        return unit.chunk == chunk and unit.kind is UnitKind.PROSE and unit.statement

    def _is_value_of(self, chunk: int, i: int) -> bool:
        return self.sentences[i].chunk == chunk and bool(_VALUE.fullmatch(self.sentences[i].text))

    def _continues(self, i: int, j: int) -> bool:
        same = self.sentences[j].chunk == self.sentences[i].chunk
        return same and self.sentences[j].kind in _INTRODUCED and self.sentences[j].lead in range(i, j)


def _entry_of(unit: Sentence) -> tuple[int, UnitKind, tuple[str, ...]]:
    return unit.chunk, unit.kind, unit.headings


def folded(text: str) -> str:
    """``text`` without case and final punctuation."""
    return text.casefold().rstrip(" .!。！")


def within_window(texts: list[str], encoder: Encoder) -> list[str]:
    """Each text, cut after the last token that fits the encoder: for vectors that only rank."""
    room = encoder.tokens.max_tokens - encoder.tokens.special_tokens
    cut, long = list(texts), [i for i, text in enumerate(texts) if len(text.encode()) > room]  # a token has a byte
    for at in range(0, len(long), _AT_ONCE):
        some = long[at : at + _AT_ONCE]
        for i, offsets in zip(some, encoder.tokens.token_offsets([texts[i] for i in some]), strict=True):
            if len(offsets) > room:
                cut[i] = texts[i][: offsets[room - 1][1]]
    return cut


async def sentences_of(inputs: AnswerInputs, encoder: Encoder) -> SentenceTable:
    """The units of the inputs' chunks; made by the first stage that asks, for all of them."""
    of, table = inputs.known.get(encoder.version, (None, None))
    if table is None or of is not inputs.chunks:
        table = await sentence_table(inputs.chunks, encoder)
        inputs.known[encoder.version] = (inputs.chunks, table)
    return table


async def sentence_table(chunks: tuple[Chunk, ...], encoder: Encoder) -> SentenceTable:
    """Encode the units of ``chunks``, numbered in their order."""

    def read() -> tuple[tuple[Sentence, ...], list[str]]:
        units = sentences_in(chunks)
        return units, _encoded(units, encoder)

    units, texts = await asyncio.to_thread(read)
    return SentenceTable(units, await encoder.encode_documents(texts))


async def with_sentence_vectors(chunks: Sequence[Chunk], encoder: Encoder) -> list[Chunk]:
    """The chunks with the vectors of their units, which `sentence_table` needs."""
    found = list[Chunk]()
    for i in range(0, len(chunks), _CHUNKS_AT_ONCE):
        some = chunks[i : i + _CHUNKS_AT_ONCE]
        texts = await asyncio.to_thread(_encoded_of_each, some, encoder)
        vectors = await encoder.encode_documents([text for of_chunk in texts for text in of_chunk])
        found += await asyncio.to_thread(_with_vectors, some, texts, vectors)
    return found


def _encoded_of_each(chunks: Sequence[Chunk], encoder: Encoder) -> list[list[str]]:
    return [_encoded(sentences_in([chunk]), encoder) for chunk in chunks]


def _with_vectors(chunks: Sequence[Chunk], texts: Sequence[list[str]], vectors: Vectors) -> list[Chunk]:
    ends = accumulate(map(len, texts))
    own = [pack_vectors(t, vectors[end - len(t) : end]) for t, end in zip(texts, ends, strict=True)]
    return [c.model_copy(update={"unit_vectors": u}) for c, u in zip(chunks, own, strict=True)]


def _encoded(units: Sequence[Sentence], encoder: Encoder) -> list[str]:
    return within_window([u.plain or u.text for u in units], encoder)


def sentences_in(chunks: Sequence[Chunk]) -> tuple[Sentence, ...]:
    """The units of ``chunks``, numbered in their order, without vectors."""
    units: list[Sentence] = []
    for number, chunk in enumerate(chunks, start=1):
        units += _units_of(number, chunk, len(units))
    return tuple(units)


def _units_of(number: int, chunk: Chunk, first: int) -> list[Sentence]:
    """The units of a chunk, of which the first has index ``first`` in the table."""
    starts = {span.start: i for i, span in enumerate(chunk.sentences)}
    introducing = {at for at, kind in zip(chunk.leads, chunk.kinds, strict=False) if kind in _INTRODUCED}
    units: list[Sentence] = []
    for i, span in enumerate(chunk.sentences):
        text, at = chunk.slice(span), chunk.leads[i] if chunk.leads else None
        kind = chunk.kinds[i] if chunk.kinds else _kind_of(text)
        lead = _question_above(units) if kind is UnitKind.PROSE else starts.get(at) if at is not None else None
        headings, line = chunk.headings_at(span.start), _line_at(chunk, at)
        prefix = _prefix(kind, text, headings, line, units[lead] if lead is not None else None)
        body = quote(text, kind, line if kind is UnitKind.ROW else "", chunk.markup)
        around = (prefix, span.start in introducing, _read_with(chunk, kind, span, at, headings, prefix))
        place = None if lead is None else first + lead
        units.append(Sentence(number, i + 1, span, text, body, kind, headings, place, *around))
    return units


def _question_above(units: Sequence[Sentence]) -> int | None:
    """Index of the last of a chunk's units so far if it is a heading that asks; labels such as "A:" do not count."""
    before = next((i for i in reversed(range(len(units))) if units[i].kind is not UnitKind.FURNITURE), None)
    asks = before is not None and units[before].kind is UnitKind.HEADING and units[before].body.endswith(ASKS)
    return before if asks else None


def _kind_of(text: str) -> UnitKind:
    """The kind of a sentence that was stored without it, such as a summary's."""
    if _HEADING.match(text):
        return UnitKind.HEADING
    return UnitKind.ITEM if ITEM.match(text) and not text.startswith("|") else UnitKind.PROSE


def _line_at(chunk: Chunk, at: int | None) -> str:
    """The line of the unit that introduces another; what the chunk knows of it where it stands before the chunk."""
    if at is None:
        return ""
    return chunk.text[at - chunk.span.start :].split("\n", 1)[0] if at >= chunk.span.start else chunk.columns


def _prefix(kind: UnitKind, text: str, headings: Sequence[str], introduction: str, lead: Sentence | None) -> str:
    """What a unit is read with: its speaker, or the heading above an item or above a row without a header.

    An item has no prefix if a sentence introduces the list or the heading asks.
    """
    if kind is UnitKind.TURN:
        return _opened(speaker_of(text) or speaker_of(introduction) or introduction)
    if kind is UnitKind.ROW:
        return "" if introduction else _headed(headings[-1:])
    if kind is not UnitKind.ITEM:
        return ""
    if lead is not None:
        return lead.prefix if lead.kind is UnitKind.ITEM else ""
    named = [h for h in headings[-2:] if not h.endswith(_OPEN)]
    if not named or (len(named) > 1 and not any(map(str.isdigit, named[0]))) or any(map(str.isdigit, named[-1])):
        named = named[-1:]
    return _headed(named)


def _read_with(
    chunk: Chunk, kind: UnitKind, span: Span, at: int | None, headings: Sequence[str], prefix: str
) -> tuple[Span, ...]:
    """Where the header row, the speaker or the headings that a unit is read with stand, if all are in its chunk."""
    first = chunk.span.start
    if kind in {UnitKind.ROW, UnitKind.TURN} and at is not None:
        line = _line_at(chunk, at)
        end = len(line) if kind is UnitKind.ROW else len(line) - len(without_speaker(line))
        return (Span(start=at, end=at + end),) if at >= first and end else ()
    names = [h for h in headings[-2:] if h in prefix] if kind is not UnitKind.TURN else []
    before = chunk.text[: span.start - first]
    lines = [[*re.finditer(rf"^[ \t#]*({re.escape(name)})", before, re.MULTILINE)][-1:] for name in names]
    found = [Span(start=first + m.start(1), end=first + m.end(1)) for line in lines for m in line]
    return tuple(found) if len(found) == len(names) else ()


def _headed(headings: Sequence[str]) -> str:
    prefix = _opened(", ".join(headings))
    return prefix if len(prefix) <= _MAX_PREFIX else ""


def _opened(name: str) -> str:
    if not name:
        return ""
    return f"{name}：" if language_of(name) == "zh" else f"{name}: "
