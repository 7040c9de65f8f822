"""Search terms of English and Chinese text, and their BM25 weights as sparse vectors.

Stop words are those of bm25s. Chinese and Japanese, which have no spaces between words, become overlapping bigrams.
Qdrant stores the term-frequency part of BM25, and multiplies by the inverse document frequency itself.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import xxhash

from discorag.text.folding import fold

SparseVector = tuple[list[int], list[float]]

K1 = 1.2
B = 0.75
AVERAGE_TERMS = 120
"""Terms in an average chunk: 256 encoder tokens are about 200 English words, and 40 % of them are stop words."""

CJK_LETTERS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HANGUL = "\u1100-\u11ff\uac00-\ud7a3"
"""Letters of Chinese and Japanese, and of Korean, for a character class."""
_TOKEN = re.compile(
    rf"[{CJK_LETTERS}]+|[{HANGUL}]+"
    rf"|(?:(?![{CJK_LETTERS}{HANGUL}])\w|(?<=\d)[.,](?=\d))+"  # a word; between digits a point or comma is its part
    r"(?:(?<=n)'t\b)?"  # "don't" is one word, "John's" is two
)
_OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
_IS_CJK = re.compile(rf"[{CJK_LETTERS}]")
_NEGATIONS_EN = frozenset({"no", "nor", "not", "without"})
_NEGATIONS_ZH = frozenset("不没无未非别莫勿毋")


def terms(text: str, *, stopwords: bool = True) -> list[str]:
    """Lower-cased search terms of ``text`` in order, repetitions included.

    A run of CJK characters gives its overlapping bigrams (a single character stays as it is). Numbers keep their form:
    "3.5" and "1,000" are one term each, "12%" is "12". An option such as "-s" or "--sort" is a term next to its words;
    these come last. A Korean particle behind a code ("ABC-123의") is a term of its own. Text is folded (`fold`).

    Args:
        text: Any text.
        stopwords: Whether stop words are removed: bm25s's long English list, and a part of its Chinese list, single
            characters and words of two such characters. (The rest of that list has content words such as 安全,
            "safety".) Negations always stay: "not", "no", "nor", "without", "don't", 不, 没, 无, ...
    """
    folded = fold(text).replace("’", "'").lower()
    dropped = _stopwords() if stopwords else frozenset[str]()
    words = [term for match in _TOKEN.finditer(folded) for term in _pieces(match.group()) if term not in dropped]
    return words + _OPTION.findall(folded)


def sparse(text: str) -> SparseVector:
    """Term ids, ascending, and the BM25 term-frequency weights of a chunk's text.

    A term that occurs f times among n terms has the weight ``f (k1 + 1) / (f + k1 (1 - b + b n / average))`` (Robertson
    and Zaragoza 2009, section 3.4). Ids are 32-bit xxHash values; the weights of colliding terms are added.
    """
    found = terms(text)
    norm = K1 * (1 - B + B * len(found) / AVERAGE_TERMS)
    return _hashed({term: f * (K1 + 1) / (f + norm) for term, f in Counter(found).items()})


def sparse_query(text: str) -> SparseVector:
    """The ascending term ids of a query; each distinct term weighs 1."""
    return _hashed(dict.fromkeys(terms(text), 1.0))


def term_id(term: str) -> int:
    """The 32-bit xxHash of a term."""
    return xxhash.xxh32_intdigest(term.encode("utf-8", "surrogatepass"))


def _hashed(weights: dict[str, float]) -> SparseVector:
    by_id: dict[int, float] = {}
    for term, weight in weights.items():
        at = term_id(term)
        by_id[at] = by_id.get(at, 0.0) + weight
    ids = sorted(by_id)
    return ids, [by_id[i] for i in ids]


def _pieces(token: str) -> Iterator[str]:
    if len(token) > 1 and _IS_CJK.match(token):
        return (token[i : i + 2] for i in range(len(token) - 1))
    return iter((token,))


@cache
def _stopwords() -> frozenset[str]:
    spec = find_spec("bm25s")
    assert spec
    assert spec.origin
    lists = run_path(str(Path(spec.origin).with_name("stopwords.py")))  # the package would load numba, if there is one
    long, chinese = frozenset[str](lists["STOPWORDS_EN_PLUS"]), frozenset[str](lists["STOPWORDS_CHINESE"])
    negated = {word for word in long if word.endswith("n't")}
    stems = {word.removesuffix("'t") for word in negated}  # the list has "won" for "won't"; alone it is a verb
    single = {word for word in chinese if len(word) == 1} - _NEGATIONS_ZH
    double = {word for word in chinese if len(word) == 2 and single.issuperset(word)}
    return frozenset((long - _NEGATIONS_EN - negated - stems) | single | double)
