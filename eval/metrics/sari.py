"""SARI (Xu et al. 2016, section 3): which n-grams of the source are kept and deleted, and which are added."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Literal

from discorag.extras import extra
from eval.metrics.base import Given

MAX_N = 4

Ngrams = Counter[tuple[str, ...]]


@dataclass(frozen=True)
class Operations:
    """How well n-grams are kept, added and deleted; each 0 to 1, mean over n = 1 to 4."""

    keep_f1: float
    add_f1: float
    delete_precision: float
    delete_f1: float


@dataclass(frozen=True)
class Sari:
    """SARI: mean of keep F1, add F1, and delete precision (Xu et al. 2016, eq. 4 to 8) or F1 (Disco-RAG, eq. 6).

    The source is the text of the sample's documents; tokens are those of the mteval-v13a tokenizer (English),
    lower-cased. Counts follow the common implementation (tensor2tensor's ``sari_hook``, Hugging Face ``evaluate``);
    see `operations`.
    """

    name: Literal["sari", "sari_delete_f1"]

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without references or documents."""
        sample = given.sample
        if not sample.references or not sample.documents:
            return None
        source = "\n".join(given.documents[doc].text for doc in sample.documents)
        references = [tokens_13a(text) for text in sample.references]
        found = operations(tokens_13a(source), tokens_13a(given.answer), references)
        delete = found.delete_precision if self.name == "sari" else found.delete_f1
        return 100 * (found.keep_f1 + found.add_f1 + delete) / 3


def operations(source: Sequence[str], output: Sequence[str], references: Sequence[Sequence[str]]) -> Operations:
    """Scores of the three operations, from tokens.

    Counts of source and output are multiplied by the number of references, whose counts are summed. Precision of keep
    and delete is the mean over distinct n-grams; recall is a ratio of counts. Added n-grams are counted once each. A
    deleted n-gram is right as often as it was deleted beyond its count in the references (so not all deletions that
    lead to a reference are right where the source repeats an n-gram; Xu et al.'s formula differs there, their code
    does not). A ratio of nothing to nothing is 1. Linear in the number of tokens.
    """
    by_n = [_operations_of_order(source, output, references, n) for n in range(1, MAX_N + 1)]
    return Operations(*map(_mean, zip(*map(astuple, by_n), strict=True)))


def tokens_13a(text: str) -> list[str]:
    """Lower-cased tokens of ``text`` (mteval-v13a)."""
    with extra("eval"):
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return str(Tokenizer13a()(text.lower())).split()


def _operations_of_order(
    source: Sequence[str], output: Sequence[str], references: Sequence[Sequence[str]], n: int
) -> Operations:
    times = len(references)
    before, after = _ngrams(source, n, times), _ngrams(output, n, times)
    wanted = sum((_ngrams(reference, n) for reference in references), Ngrams())
    delete_precision, delete_recall = _precision_recall(before - after, before - after - wanted, before - wanted)
    return Operations(
        keep_f1=_f1(*_precision_recall(before & after, before & after & wanted, before & wanted)),
        add_f1=_add_f1(set(after) - set(before), set(wanted) - set(before)),
        delete_precision=delete_precision,
        delete_f1=_f1(delete_precision, delete_recall),
    )


def _ngrams(tokens: Sequence[str], n: int, times: int = 1) -> Ngrams:
    found = Counter(zip(*(tokens[i:] for i in range(n)), strict=False))
    return Counter({ngram: count * times for ngram, count in found.items()})


def _precision_recall(done: Ngrams, right: Ngrams, wanted: Ngrams) -> tuple[float, float]:
    """Precision of what was done, averaged over distinct n-grams, and recall of what was wanted, over counts."""
    precision = _mean([right[ngram] / count for ngram, count in done.items()])
    return precision, _ratio(right.total(), wanted.total())


def _add_f1(added: set[tuple[str, ...]], wanted: set[tuple[str, ...]]) -> float:
    right = len(added & wanted)
    return _f1(_ratio(right, len(added)), _ratio(right, len(wanted)))


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return _ratio(sum(values), len(values))
