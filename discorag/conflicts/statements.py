"""The sentences of a corpus that are compared: prose and list items that state something, with vectors and values.

Not compared: headings, tables, code, links, directives and fields of reStructuredText, questions.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from discorag.conflicts.identity import DocumentIdentity, identify_document
from discorag.conflicts.values import Value, find_values
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable
from discorag.ingest.segment.verbs import has_verb
from discorag.schema.document import Chunk, UnitKind
from discorag.schema.values import Vectors
from discorag.text.sentences import language_of

_KINDS = frozenset({UnitKind.PROSE, UnitKind.ITEM, UnitKind.TURN})
_MARKUP = re.compile(
    r"^\W*(?:\.\. |:[\w-]+:\s|\||(?:def|class|import|return) \w|from \S+ import|[\w.]*[._]\w+\()|^@\w|::|https?://"
    r"|^\d+ ?(?:/?\*|//|#|.*[;{})]$)"  # a line of a listing
    r"|<\w+[^>]*>|[=_~]{3,}|-{4,}|\w\.\w+:\d|\S[ \t]{4,}\S|\b[Cc]opyright\b.*\d{4}|©"
    r"|\bdocument was generated\b|^\W*(?:Created|Generated) (?:by|using|with|on)\b|\b[Ll]ast (?:updated|modified)\b"
    r"|\bTotal running time\b| = [^=]* = |\n *: +(?:\d+\.)+$"
)
"""What prose does not have: code, directives, fields, links, tags, rules, columns, copyright and build notices, and the
number of the next heading in a table of contents."""
_LINE_NUMBER = re.compile(r"\d{1,3}(?![\w.,)\]%-])")
_AROUND, _LEAP = 3, 10
"""How far from a line of a listing the next number may be: in sentences, and (less than this) in numbers."""
_TARGET = re.compile(r"<https?://[^>\s]*>|<[^<>`]+>(?=`)|(?<=\])\([^()\s]*(?: \"[^\"]*\")?\)")
_DEFAULT = re.compile(r"^\W*default", re.IGNORECASE)
SMALL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the of to in on at by for with and or is are was were be been has have had do does did it its this that "
        "as from will can than about over there these those they them their then also which into such each other",
    )
)
_POINTS = re.compile(r"\W*(?:it|its|they|their|that|those|there|here|such)\b|.*\bth(?:is|ese)\b", re.IGNORECASE)
"""A word for something in the sentences before: "It runs on Unix.", "The tool returns 1 in this case."."""
_EXAMPLE = re.compile(r"\b(?:examples?|for instance|e\.?g|suppose|imagine)\b", re.IGNORECASE)
_LEAST_WORDS, _MOST_WORDS = 4, 60
_LEAST_OF_SENTENCE = 6
_LEAST_NAMES = 5
_IDENTIFIER = re.compile(r"\w-\w|[a-z][A-Z]")
_PAGE = re.compile(r"(\S+)\(\d\w*\)")
"""The title of a manual page: "deb(5)"."""
RATHER = 3
"""A name is typical of a document that uses it more than this many times as often as the other document."""
_HEAD_CHUNKS = 8  # of a document, in which its cover is looked for
_TOKEN = re.compile(r"[^\W_]+(?:[-_.'’][^\W_]+)*|[<>=%$€£]+")


@dataclass(frozen=True)
class Statement:
    """A sentence that can disagree with another.

    Args:
        document: Index of its document.
        sentence: Where it stands: span in the document, headings.
        chunk: Its chunk.
        text: Its words on one line.
        values: The values in ``text``.
    """

    document: int
    sentence: Sentence
    chunk: Chunk
    text: str
    values: tuple[Value, ...]

    @property
    def heading(self) -> str:
        """The innermost heading around it, empty if there is none."""
        return self.sentence.headings[-1] if self.sentence.headings else ""

    @cached_property
    def tokens(self) -> tuple[str | Value, ...]:
        """Its words and values in order; the words of a value are not there a second time."""
        found: list[tuple[int, str | Value]] = [(v.span.start, v) for v in self.values]
        taken = [range(v.span.start, v.span.end) for v in self.values] + _targets(self.text)
        words = _TOKEN.finditer(self.text)
        found += [(m.start(), m[0]) for m in words if not any(m.start() in t or m.end() - 1 in t for t in taken)]
        return tuple(token for _, token in sorted(found, key=lambda f: f[0]))

    @cached_property
    def frame(self) -> tuple[str, ...]:
        """Its tokens in lower case, with each value replaced by its kind and unit; statements are aligned by it."""
        return tuple(f"<{t.kind}>" if isinstance(t, Value) else t.casefold() for t in self.tokens)

    @cached_property
    def names(self) -> frozenset[str]:
        """Its names and identifiers, and its first word if that has a capital."""
        return frozenset(
            t for t in self.tokens if isinstance(t, str) and is_name(t) and t.casefold() not in SMALL_WORDS
        )

    @cached_property
    def points_beyond_itself(self) -> bool:
        """Whether a word stands for something that another sentence names."""
        return bool(_POINTS.match(self.text))

    @cached_property
    def is_example(self) -> bool:
        """Whether it gives an example or its heading announces examples; its values claim nothing."""
        return any(map(_EXAMPLE.search, (self.text, self.heading)))

    @property
    def names_a_default(self) -> bool:
        """Whether it is a field such as "Default: 10", whose subject is the heading."""
        return bool(_DEFAULT.match(self.text)) and bool(self.heading) and len(self.tokens) < _LEAST_OF_SENTENCE


@dataclass(frozen=True)
class AuditDocument:
    """A document as far as it is compared: all of it in an audit, its retrieved chunks in a question.

    Args:
        id: Its id in the store.
        title: Its title.
        identity: Who and when it speaks for.
        sentences: The sentences of its chunks, in order.
        chunks: The chunk of each sentence.
        vectors: Unit vectors of the sentences, shape (n, d).
    """

    id: str
    title: str
    identity: DocumentIdentity
    sentences: Sequence[Sentence]
    chunks: Sequence[Chunk]
    vectors: Vectors

    @classmethod
    def of(cls, chunks: Sequence[Chunk], table: SentenceTable, rows: Sequence[int]) -> Self:
        """Take one document out of a sentence table.

        Args:
            chunks: Those of the table, in order.
            table: Their sentences.
            rows: Indices of the document's sentences.
        """
        sentences = [table.sentences[i] for i in rows]
        own = [chunks[s.chunk - 1] for s in sentences]
        first = own[0]
        head = "\n".join({c.id: c.text for c in own if c.order < _HEAD_CHUNKS}.values())
        identity = identify_document(first.uri, first.title, head, first.metadata)
        return cls(first.doc_id, first.title, identity, sentences, own, table.vectors[np.array(rows)])

    @cached_property
    def texts(self) -> frozenset[str]:
        """All its sentences, normalised."""
        return frozenset(normalise(s.body) for s in self.sentences)

    @cached_property
    def release(self) -> tuple[str, str]:
        """What it is about, and which version; both are empty unless both are known."""
        own = self.identity
        return (own.entity, own.version) if own.entity and own.version else ("", "")

    @cached_property
    def page(self) -> str:
        """Its path without the version ("knot-/usage.md"): the same in all releases that have the page."""
        return re.sub(rf"{re.escape(self.identity.version)}[^/]*", "", self.chunks[0].uri)

    @cached_property
    def words(self) -> Counter[str]:
        """Its words as written, and how often."""
        return Counter(word for s in self.sentences for word in _TOKEN.findall(s.text))

    @cached_property
    def _series(self) -> list[str]:
        return [w for w in _TOKEN.findall(self.title.casefold()) if not any(map(str.isdigit, w))]

    def is_version_of(self, other: Self) -> bool:
        """Whether the titles differ only in their numbers."""
        return bool(self._series) and self._series == other._series

    def is_other_release_than(self, other: Self) -> bool:
        """Whether the two are known to speak for one entity or under one title, at two versions."""
        one, two = self.identity, other.identity
        is_one_thing = self.is_version_of(other) or (bool(one.entity) and one.entity == two.entity)
        return is_one_thing and bool(one.version) and bool(two.version) and one.version != two.version

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that it capitalises inside sentences, and never writes in lower case."""
        inside = {w for s in self.sentences if s.kind in _KINDS for w in _TOKEN.findall(s.text)[1:] if w[0].isupper()}
        return frozenset(w for w in inside if w.casefold() not in self.words)

    def has_other_subject(self, other: Self) -> bool:
        """Whether the two speak for different entities, are manual pages of two things, or have other names as titles.

        A name in a title ("Bergen", "RateLimit") counts if the other document hardly uses it.
        """
        entities, pages = ({a.casefold(), b.casefold()} for a, b in zip(self._subjects, other._subjects, strict=True))
        if any("" not in two and len(two) == 2 for two in (entities, pages)):
            return True
        return self._is_named_otherwise_than(other) and other._is_named_otherwise_than(self)

    @cached_property
    def _subjects(self) -> tuple[str, str]:
        page = _PAGE.fullmatch(self.title)
        return self.identity.entity, page[1] if page else ""

    def _is_named_otherwise_than(self, other: Self) -> bool:
        names = (w for w in _TOKEN.findall(self.title) if w in self.names or _IDENTIFIER.search(w))
        return any(self.words[w] > RATHER * other.words[w] for w in names)

    def is_titled(self, words: Iterable[str]) -> bool:
        """Whether its title has one of these words."""
        title = {w.casefold() for w in _TOKEN.findall(self.title)}
        return any(word.casefold() in title for word in words)

    def uses(self, words: Iterable[str]) -> int:
        """How often it uses any of these words."""
        return sum(self.words[w] for w in words)

    def shared_names(self, other: Self) -> float:
        """The share of the names of the document with fewer that both have; 1 if it has hardly any."""
        fewer = min(len(self.names), len(other.names))
        return len(self.names & other.names) / fewer if fewer >= _LEAST_NAMES else 1


def is_name(word: str) -> bool:
    """Whether a word has a capital or an underscore."""
    return "_" in word or any(map(str.isupper, word))


def normalise(text: str) -> str:
    """A sentence reduced to letters and digits in lower case, for comparison word by word."""
    return " ".join(_TOKEN.findall(text.casefold()))


def read_statements(documents: Sequence[AuditDocument]) -> tuple[list[Statement], Vectors]:
    """The statements of all documents, and their vectors, shape (statements, d)."""
    found: list[Statement] = []
    vectors: list[Vectors] = []
    for number, document in enumerate(documents):
        rows: list[int] = []
        for i, sentence in enumerate(document.sentences):
            if statement := _statement(number, document, i, sentence):
                found.append(statement)
                rows.append(i)
        vectors.append(document.vectors[rows])
    return found, np.concatenate(vectors) if vectors else np.zeros((0, 1), dtype=np.float32)


def _targets(text: str) -> list[range]:
    """Where the targets of links stand in prose."""
    return [range(m.start(), m.end()) for m in _TARGET.finditer(text)]


def _is_line_of_listing(sentences: Sequence[Sentence], i: int) -> bool:
    """Whether a sentence opens with a number, and a sentence near it continues the count."""
    near = range(max(0, i - _AROUND), min(len(sentences), i + _AROUND + 1))
    numbers = {j: int(m[0]) for j in near if (m := _LINE_NUMBER.match(sentences[j].body))}
    return i in numbers and any(0 < (n - numbers[i]) * (1 if j > i else -1) < _LEAP for j, n in numbers.items())


def _statement(number: int, document: AuditDocument, i: int, sentence: Sentence) -> Statement | None:
    text = sentence.body
    if sentence.kind not in _KINDS or _MARKUP.search(_TARGET.sub("", sentence.text)):
        return None
    is_default, leads_in = bool(_DEFAULT.match(text)), text.endswith(":")
    if not (sentence.statement or is_default or leads_in) or _is_line_of_listing(document.sentences, i):
        return None
    targets = _targets(text)
    values = tuple(v for v in find_values(text) if not any(v.span.start in target for target in targets))
    statement = Statement(number, sentence, document.chunks[i], text, values)
    if statement.names_a_default:
        return statement
    says = sentence.statement or (bool(values) and leads_in and has_verb(text))
    fits = says and _LEAST_WORDS <= len(statement.tokens) <= _MOST_WORDS
    return statement if fits and not text.endswith("?") and language_of(text) == "en" else None
