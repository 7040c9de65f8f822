"""Which sentences answer a question: candidates by hybrid search, in the order of a cross-encoder.

Source of the fusion: Cormack, Clarke and Büttcher, SIGIR 2009 (k = 60). Source of the reranker: Nogueira and Cho 2019,
"Passage Re-ranking with BERT".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from discorag.ingest.segment.sentence_table import Sentence, SentenceTable
from discorag.models.reranker import Reranker
from discorag.schema.answer import AnswerInputs
from discorag.schema.values import Vectors
from discorag.store.search import reciprocal_ranks_of
from discorag.text.bm25 import Runs, TermCounts
from discorag.text.folding import fold

Floats = NDArray[np.float64]

PAIRS = 12
"""Sentences that the reranker reads; 24 would not put more gold sentences first."""
SENTENCES = 3
"""How many of the best are read once more to decide whether anything answers the question."""
_BEGINNING = 24  # characters of a sentence within which a code is what it is about
_ABOVE = 0.1  # of a logit, from the best other sentence to the last one that holds a rare code
_CODE = re.compile(
    r"(?<![\w-])(?:--?[a-z][\w-]*"  # an option
    r"|(?=[\w.-]*\d)(?=[\w.-]*[a-z]|\d+\.\d)\w+(?:[.-]\w+)*)",  # digits with letters, or with points
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True)
class Relevance:
    """How well the sentences of a question's inputs answer its question.

    ``logits`` are the reranker's, shape (sentences,); minus infinity for a sentence that it did not read. If it cannot
    read the language, they are scores of BM25: ``by_words``.
    """

    logits: Floats
    by_words: bool = False

    @property
    def ranked(self) -> list[int]:
        """Indices of the sentences that the reranker read, best first; equal ones in the order of the text."""
        order = np.argsort(-self.logits, kind="stable").tolist()
        return [i for i in order if np.isfinite(self.logits[i])]

    @property
    def best(self) -> float:
        """The highest logit; minus infinity if nothing was read."""
        return float(self.logits.max(initial=-np.inf))


async def rank_sentences(inputs: AnswerInputs, table: SentenceTable, query: Vectors, reranker: Reranker) -> Relevance:
    """Score the most promising sentences with the reranker; computed once for all stages of a question.

    The question's vector has shape (d,). The reranker reads each sentence under its title and headings. Raises as
    `Reranker.scores`.
    """
    name = f"relevance to {inputs.query}"
    chunks, known = inputs.known.get(name, (None, None))
    if chunks is inputs.chunks:
        return cast(Relevance, known)
    logits, exact = np.full(len(table.sentences), -np.inf), sentences_about_codes(inputs, table)
    found = find_candidates(inputs, table, statements_of(table), inputs.query, query)
    candidates = list(dict.fromkeys([*exact, *found]))[: max(PAIRS, len(exact))]
    if candidates:
        texts = [in_context(inputs, table.sentences[i]) for i in candidates]
        logits[candidates] = await reranker.scores(inputs.query, texts)
    if others := [i for i in candidates if i not in exact]:
        logits[exact] += max(0.0, logits[others].max() - logits[exact].min(initial=np.inf) + _ABOVE)
    relevance = Relevance(logits)
    inputs.known[name] = (inputs.chunks, relevance)
    return relevance


def sentences_about_codes(inputs: AnswerInputs, table: SentenceTable) -> list[int]:
    """The sentences about a code of the question: they rank above sentences that share more words with it.

    A code is an option ("-S", "--sort"; capitals count), or a word of digits and other characters ("8.1.4", "E1047"). A
    sentence is about it ("v8.1.4" too) if it begins with it or is under a heading that holds it. A code that most
    sentences are about, or that names their document, does not say which one answers.
    """

    def subject(unit: Sentence) -> str:
        return fold(" ".join((*unit.headings, unit.body[:_BEGINNING])))

    statements, found = statements_of(table), list[int]()
    titles = [fold(inputs.chunks[table.sentences[i].chunk - 1].title).casefold() for i in statements]
    for code in dict.fromkeys(_CODE.findall(fold(inputs.query))):
        if code[0] != "-" and 2 * sum(code.casefold() in title for title in titles) > len(titles):
            continue
        pattern = re.compile(
            rf"(?<![\w-])v?{re.escape(code)}(?![\w-]|\.\d)", re.ASCII | (0 if code[0] == "-" else re.IGNORECASE)
        )
        about = [i for i in statements if pattern.search(subject(table.sentences[i]))]
        if 2 * len(about) <= len(statements):
            found += about
    return sorted(set(found))[:PAIRS]


async def read_evidence(inputs: AnswerInputs, table: SentenceTable, relevance: Relevance, reranker: Reranker) -> float:
    """The mean logit of the best sentence and of the passage around it.

    The reranker reads both without title and headings: under a title that names the question's subject, any sentence
    looks like an answer. Only a heading that asks, or that says what an entry is, is read with its sentence. There is
    at least one chunk; without a statement, the first chunk's logit counts alone. Raises as `Reranker.scores`.
    """
    best = [table.sentences[i] for i in relevance.ranked[:SENTENCES]]
    passage = inputs.chunks[best[0].chunk - 1 if best else 0].text
    texts = [_bare(inputs, unit) for unit in best]
    *sentences, around = await reranker.scores(inputs.query, [*texts, passage])
    return (max(sentences) + around) / 2 if sentences else around


def statements_of(table: SentenceTable) -> list[int]:
    """Indices of the units that say something."""
    return [i for i, unit in enumerate(table.sentences) if unit.statement]


def find_candidates(
    inputs: AnswerInputs, table: SentenceTable, units: Sequence[int], text: str, vector: Vectors, limit: int = PAIRS
) -> list[int]:
    """The ``limit`` of ``units`` with the highest sum of reciprocal ranks by cosine and by BM25, best first.

    They are compared with ``text`` and its vector, shape (d,).
    """
    if not units:
        return []
    by_words = _bm25(inputs, table, units, text)
    fused = reciprocal_ranks_of(table.vectors[units] @ vector) + reciprocal_ranks_of(by_words)
    return [units[at] for at in np.argsort(-fused, kind="stable")[:limit]]


def rank_by_words(inputs: AnswerInputs, table: SentenceTable) -> Relevance:
    """All statements by BM25 alone, for a language that the models cannot read."""
    logits, units = np.full(len(table.sentences), -np.inf), statements_of(table)
    if units:
        logits[units] = _bm25(inputs, table, units, inputs.query)
    return Relevance(logits, by_words=True)


def _bm25(inputs: AnswerInputs, table: SentenceTable, units: Sequence[int], text: str) -> Floats:
    each = np.arange(len(units))
    texts = TermCounts.of([in_context(inputs, table.sentences[i]) for i in units])
    return texts.bm25(text, Runs(first=each, starts=each, stops=each + 1))


def in_context(inputs: AnswerInputs, unit: Sentence) -> str:
    """A sentence under the title of its document and its headings, as it is searched and as the reranker reads it."""
    path = dict.fromkeys(filter(None, (inputs.chunks[unit.chunk - 1].title, *unit.headings)))
    return f"{' > '.join(path)}: {unit.plain}" if path else unit.plain


def _bare(inputs: AnswerInputs, unit: Sentence) -> str:
    """A sentence without its title and headings, but for one that asks, and one that says what its entry is."""
    above = unit.question or unit.section
    return unit.plain if above in ("", inputs.chunks[unit.chunk - 1].title) else f"{above} {unit.plain}"
