"""Finds pairs of statements in a corpus that say the same of one subject in almost the same words.

Two statements are a pair if three things hold. Each is the nearest neighbour of the other in the other's document.
Neither occurs word for word in the other's document. Their words can be aligned if values are left out.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from discorag.conflicts.statements import SMALL_WORDS, AuditDocument, Statement, is_name, normalise
from discorag.conflicts.values import Value
from discorag.models.loops import raise_if_cancelled
from discorag.schema.values import Vectors

NEAR = 0.6
"""Least cosine of two statements that are compared."""
CLOSE = 0.55
"""Least share of the words, weighted by idf, that two statements have in common."""
_STEM = 5
_LIKE = 0.75
_BLOCK = 2**23  # cosines in memory at a time


@dataclass(frozen=True)
class Alignment:
    """Two statements of different documents, word by word.

    Args:
        left: The statement of the document that comes first.
        right: The other statement.
        overlap: Share of their words in common, weighted by idf.
        slots: Values at the same place in both.
        only: Words that only the left one has, and words that only the right one has.
        names: The names and identifiers among these words; the first word of a sentence is not counted.
    """

    left: Statement
    right: Statement
    overlap: float
    slots: tuple[tuple[Value, Value], ...]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    names: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def has_other_subject(self) -> bool:
        """Whether names differ on both sides, so that the two speak of different things."""
        return all(self.names)

    @cached_property
    def common(self) -> frozenset[str]:
        """Content words that occur in both."""
        return frozenset(_content(self.left.tokens)) & frozenset(_content(self.right.tokens))


class Words:
    """Weighs words: the rarer a word is in the two documents that are compared, the more it weighs."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self._statements: dict[int, list[Statement]] = defaultdict(list)
        for s in statements:
            self._statements[s.document].append(s)
        self._counts: dict[int, Counter[str]] = {}

    def weigh(self, words: Iterable[str], one: int, other: int) -> float:
        """The sum of ``log(1 + statements / statements with the word)`` over these words, in two documents."""
        size, left, right = sum(len(self._statements[d]) for d in (one, other)), self._count(one), self._count(other)
        return sum(math.log(1 + size / max(1, left[word] + right[word])) for word in words)

    def _count(self, document: int) -> Counter[str]:
        """In how many statements of a document each word occurs."""
        if document not in self._counts:
            self._counts[document] = Counter(word for s in self._statements[document] for word in set(s.frame))
        return self._counts[document]


@dataclass(frozen=True)
class Comparison:
    """Which documents are compared: a pair has one of ``rows`` and one of ``columns``, masks of shape (documents,).

    They are, for example, all and all, those that have changed and all, or a draft and a policy.
    """

    rows: NDArray[np.bool_]
    columns: NDArray[np.bool_]

    def partners(self, document: int) -> NDArray[np.bool_]:
        """Whether each document is compared with this one, shape (documents,)."""
        return (self.rows[document] & self.columns) | (self.columns[document] & self.rows)


def align_corpus(
    documents: Sequence[AuditDocument], statements: Sequence[Statement], vectors: Vectors, compared: Comparison
) -> Iterator[Alignment]:
    """All pairs of a corpus, document by document."""
    words = Words(statements)
    pages = {(d.release, d.page) for d in documents}
    for i, j in [*_mutual_neighbours(statements, vectors, compared), *_same_defaults(statements, compared)]:
        left, right = statements[i], statements[j]
        if _are_different_pages(documents[left.document], documents[right.document], pages):
            continue
        if normalise(left.text) in documents[right.document].texts:
            continue
        if normalise(right.text) in documents[left.document].texts:
            continue
        found = align(left, right, words)
        if found.overlap >= CLOSE:
            yield found


def _are_different_pages(one: AuditDocument, other: AuditDocument, pages: Set[tuple[tuple[str, str], str]]) -> bool:
    """Whether these are different pages of two releases, and both releases have at least one of the pages."""
    (entity, version), (other_entity, other_version) = one.release, other.release
    if entity != other_entity or version == other_version or one.page == other.page:
        return False
    return (other.release, one.page) in pages or (one.release, other.page) in pages


def _mutual_neighbours(
    statements: Sequence[Statement], vectors: Vectors, compared: Comparison
) -> Iterator[tuple[int, int]]:
    """Indices of two statements, each of which is the nearest to the other in the other's document."""
    own = [i for i, s in enumerate(statements) if not s.names_a_default]
    ids, owners = (np.array(column, dtype=np.int64) for column in (own, [statements[i].document for i in own]))
    for document in sorted({s.document for s in statements}):
        rows = ids[owners == document]
        is_other = (owners > document) & compared.partners(document)[owners]
        columns, first = ids[is_other], np.flatnonzero(np.diff(owners[is_other], prepend=-1))
        size = max(1, _BLOCK // max(1, len(rows)))
        cuts = np.searchsorted(first, np.arange(size, len(columns), size))  # only between documents
        for some in np.split(np.arange(len(columns)), np.unique(first[cuts[cuts < len(first)]])):
            raise_if_cancelled()
            starts = first[np.isin(first, some)] - some[:1]
            for i, j in _mutual(vectors[rows], vectors[columns[some]], starts):
                yield int(rows[i]), int(columns[some[j]])


def _mutual(rows: Vectors, columns: Vectors, starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Rows and columns that are each other's nearest.

    The rows are of one document, the columns of several, which begin at ``starts``.
    """
    nearest, highest = np.zeros(len(columns), dtype=np.int64), np.full(len(columns), NEAR, dtype=rows.dtype)
    best = np.zeros((len(rows), len(starts)), dtype=rows.dtype)
    step = max(1, _BLOCK // max(1, len(columns)))
    for at in range(0, len(rows) if len(columns) else 0, step):
        cosines = rows[at : at + step] @ columns.T
        best[at : at + step] = np.maximum.reduceat(cosines, starts, axis=1)
        top = cosines.max(axis=0)
        nearer = np.flatnonzero(top > highest)
        nearest[nearer], highest[nearer] = at + cosines[:, nearer].argmax(axis=0), top[nearer]
    document = np.searchsorted(starts, np.arange(len(columns)), side="right") - 1
    for j in np.flatnonzero((highest > NEAR) & (highest == best[nearest, document])):
        yield int(nearest[j]), int(j)


def _same_defaults(statements: Sequence[Statement], compared: Comparison) -> Iterator[tuple[int, int]]:
    """Fields such as "Default: 10" under the same heading, if it is the only such field there in both documents."""
    fields: dict[str, list[int]] = defaultdict(list)
    for i, statement in enumerate(statements):
        if statement.names_a_default:
            fields[normalise(statement.heading)].append(i)
    for same in fields.values():
        counts = Counter(statements[i].document for i in same)
        for at, i in enumerate(same):
            for j in same[at + 1 :]:
                a, b = statements[i].document, statements[j].document
                if a != b and counts[a] == counts[b] == 1 and compared.partners(a)[b]:
                    yield i, j


def align(left: Statement, right: Statement, words: Words) -> Alignment:
    """Align two statements word by word."""
    weigh = partial(words.weigh, one=left.document, other=right.document)
    shared = 0.0
    slots: list[tuple[Value, Value]] = []
    only: tuple[list[str], list[str]] = ([], [])
    for tag, a, b, c, d in SequenceMatcher(None, left.frame, right.frame, autojunk=False).get_opcodes():
        mine, theirs = left.tokens[a:b], right.tokens[c:d]
        if tag == "equal":
            shared += weigh(left.frame[a:b])
            slots += [(x, y) for x, y in zip(mine, theirs, strict=True) if isinstance(x, Value) if isinstance(y, Value)]
            continue
        values = [t for t in mine if isinstance(t, Value)], [t for t in theirs if isinstance(t, Value)]
        if len(values[0]) == len(values[1]):
            slots += zip(*values, strict=True)
        for side, tokens in zip(only, (mine, theirs), strict=True):
            side.extend(t for t in tokens if isinstance(t, str))
    total = max(weigh(left.frame), weigh(right.frame), 1e-9)
    first = {left.tokens[0], right.tokens[0]}
    names = [tuple(word for word in side if is_name(word) and word not in first) for side in only]
    one, other = only
    return Alignment(left, right, shared / total, tuple(slots), (tuple(one), tuple(other)), _unlike(*names))


def _unlike(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of two sides without those that are spelled almost like a word of the other side: "Jinja", "Jinja2".

    Identifiers are left out only if one begins with the other, or ends with it after a point. So "gcc-defaults" and
    "llvm-defaults" stay.
    """

    def is_like(word: str, others: tuple[str, ...]) -> bool:
        near = get_close_matches(word, others, 1, _LIKE) if word.isalpha() else ()
        affixes = ((a, b) for other in others for a, b in ((word, other), (other, word)))
        return bool(near) or any(a.startswith(b) or a.endswith(f".{b}") for a, b in affixes)

    def alone(words: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(w for w in words if not is_like(w, others))

    return alone(one, other), alone(other, one)


def _content(tokens: Iterable[str | Value]) -> Iterator[str]:
    """The words with some content, in lower case: long ones, but not small words such as "there"."""
    words = (t.casefold() for t in tokens if isinstance(t, str))
    return (word for word in words if len(word) > 3 and word not in SMALL_WORDS)


def stem(word: str) -> str:
    """The first letters of a word, in lower case: its forms share them."""
    return word[:_STEM].casefold()
