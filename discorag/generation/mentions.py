"""Names, numbers and codes of a question that no passage has, and which of them no text of the whole scope has."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk, Scope
from discorag.schema.metadata import Filters
from discorag.store.store import Store
from discorag.text.folding import fold
from discorag.text.terms import CJK_LETTERS, HANGUL, terms

_LETTER = rf"[^\W_{CJK_LETTERS}{HANGUL}]"  # scripts whose words have no capitals, and whose particles follow a code
_WORD = re.compile(rf"{_LETTER}+(?:[.\-'’/]{_LETTER}+)*")
_SUFFIX = re.compile(r"['’](?:s|m|d|ve|re|ll)$")
_READ = 40  # passages of the lookup that are read


@dataclass(frozen=True)
class Absence:
    """Terms of a question that no passage of it has: ``nowhere`` in the scope, or perhaps ``elsewhere`` in it.

    ``documents`` names the documents of the scope.
    """

    nowhere: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    documents: str = ""

    @property
    def unknown(self) -> str:
        """A sentence on what no text of the scope has; empty if there is no such term.

        It speaks of words, because the index does: it does not find QXTP in QXTP_v2.
        """
        if not self.nowhere:
            return ""
        word = "word" if len(self.nowhere) == 1 else "words"
        return f"Nothing in the text of {self.documents} has the {word} {', '.join(self.nowhere)}."

    @property
    def unseen(self) -> str:
        """A sentence on what is missing only from the passages that were found; empty if nothing is."""
        return f"No passage that was found mentions {', '.join(self.elsewhere)}." if self.elsewhere else ""


def exact_terms(question: str) -> list[str]:
    """Names, numbers and codes of a question: words with a digit, or with a capital that does not begin a sentence.

    They are folded (`discorag.text.folding.fold`), and end where another script begins: "ABC-123の" holds ABC-123.

    >>> exact_terms("Does Marta's HTTP client return 429? Why?")
    ['Marta', 'HTTP', '429']
    """
    text = fold(question).strip()
    begins = {0, *(m.end() for m in re.finditer(r"[.?!]\s+", text))}
    words = [(m.start() in begins, _SUFFIX.sub("", m[0])) for m in _WORD.finditer(text)]
    named = (w for is_first, w in words if any(map(str.isdigit, w)) or any(map(str.isupper, w[is_first:])))
    return list(dict.fromkeys(named))


def absent_terms(inputs: AnswerInputs) -> list[str]:
    """The `exact_terms` of the question that occur in no passage, title, heading or table header."""
    return terms_not_in(inputs.chunks, exact_terms(inputs.query))


def terms_not_in(chunks: Iterable[Chunk], wanted: Iterable[str]) -> list[str]:
    """Those of some folded terms that no chunk, title, heading or table header has, whatever their case."""
    sources = fold("\n".join("\n".join((c.title, *c.headings, c.columns, c.text)) for c in chunks)).casefold()
    return [term for term in wanted if term.casefold() not in sources]


def find_absence(store: Store, scope: Scope, filters: Filters, absent: list[str]) -> Absence:
    """Tell the terms that no text of the scope has from those that are missing only from the passages that were found.

    One search finds passages with any of them or of their plurals, and these passages are read. A term that is not
    indexed is not said to be absent from the scope, nor is any if there are more passages than are read. Blocks.
    """
    indexed = [term for term in absent if terms(term)]
    if not indexed:
        return Absence(elsewhere=tuple(absent))
    hits = store.search_words(scope, " ".join(f"{term} {term}s" for term in indexed), filters, _READ)
    chunks = store.chunks(scope, [hit.chunk_id for hit in hits])
    nowhere = terms_not_in(chunks, indexed) if len(hits) < _READ else []
    elsewhere = tuple(term for term in absent if term not in nowhere)
    return Absence(tuple(nowhere), elsewhere, _name_documents(store, scope, filters))


def _name_documents(store: Store, scope: Scope, filters: Filters) -> str:
    """The documents that were searched: how many they are, or that filters accept them."""
    if filters:
        return "the documents that the filters accept"
    count = store.page(scope, 0, 0)[1]
    return f"the {count} documents" if count > 1 else "the only document"
