"""BLEU and METEOR with NLTK, as RAPTOR scores NarrativeQA (its appendix H)."""

# NLTK is typed in part only:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import io
import os
import warnings
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from discorag.extras import extra
from eval.errors import MetricUnavailableError
from eval.metrics.base import Given

if TYPE_CHECKING:
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

WORDNET_VARIABLE = "WNSEARCHDIR"
"""WordNet's own name for the folder of its files."""
WORDNET = Path("/usr/share/wordnet")
"""Where Debian's package ``wordnet-base`` puts them."""
_LEXNAMES = 45  # kinds of synsets in WordNet 3.0


@dataclass(frozen=True)
class Bleu:
    """BLEU of one answer against all references (Papineni et al. 2002), 1-grams or 1- to 4-grams weighted alike.

    Smoothed, so that an order without a match does not make it 0 (NLTK's method 1; RAPTOR does not say which it took).
    Lower case, words only.
    """

    name: Literal["bleu1", "bleu4"]

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without references."""
        with extra("eval"):
            from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

        references = [words(reference) for reference in given.sample.references]
        answer = words(given.answer)
        if not references or not answer:
            return 0.0 if references else None
        orders = int(self.name[-1])
        smooth = cast("Any", SmoothingFunction()).method1
        score = cast("Any", sentence_bleu)(references, answer, weights=[1 / orders] * orders, smoothing_function=smooth)
        return 100 * float(score)


@dataclass(frozen=True)
class Meteor:
    """METEOR (Banerjee and Lavie 2005): words that match, stems, and synonyms of stems; best reference.

    Args:
        folder: WordNet's files; by default where ``WNSEARCHDIR`` says, or where Debian has them.

    Raises:
        MetricUnavailableError: The files are not there.
    """

    folder: Path = field(default_factory=lambda: Path(os.environ.get(WORDNET_VARIABLE, WORDNET)))
    name: str = "meteor"

    def __post_init__(self) -> None:
        if not (self.folder / "data.noun").is_file():
            raise MetricUnavailableError(
                "METEOR needs the files of WordNet, and they are not there.",
                hint=f"apt-get install wordnet-base, or name their folder in {WORDNET_VARIABLE}.",
            )

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without references."""
        with extra("eval"):
            from nltk.translate.meteor_score import meteor_score

        references = [words(reference) for reference in given.sample.references]
        if not references:
            return None
        return 100 * float(meteor_score(references, words(given.answer), wordnet=_wordnet(self.folder)))


def words(text: str) -> list[str]:
    """The words of ``text`` in lower case, without punctuation."""
    with extra("eval"):
        from nltk.tokenize import NLTKWordTokenizer

    tokens = cast("list[str]", cast("Any", NLTKWordTokenizer()).tokenize(text.lower()))
    return [token for token in tokens if any(char.isalnum() for char in token)]


@cache
def _wordnet(folder: Path) -> WordNetCorpusReader:
    """NLTK's reader over plain WordNet files, which lack what only other languages and kinds of synsets need."""
    with extra("eval"):
        import nltk.data
        from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Plain(WordNetCorpusReader):
        def open(self, file: str) -> Any:
            if file == "lexnames":
                return io.StringIO("".join(f"{i}\tunnamed\t0\n" for i in range(_LEXNAMES)))
            return super().open(file)

        def map_wn(self, version: str = "") -> None:
            """No other languages, so nothing to map."""

    nltk.data.path.append(str(folder))  # NLTK reads below these folders only
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # other languages are not there
        return Plain(str(folder), None)
