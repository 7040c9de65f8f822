"""The datasets of the retrieval benchmark, read from their official files; nothing of them is copied.

Counts in the docstrings are those of the subsets at hand: of most sets a part only was published where it could be
fetched, and a third of each is kept for release measurements. Questions without any gold evidence are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from bench.retrieval.questions import Case, Question, cases
from bench.retrieval.summhay import load_summhay
from discorag.settings import DATA_VARIABLE
from discorag.types.errors import ConfigError, MissingPathError
from discorag.types.ids import digest
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.hotpotqa import load_hotpotqa
from eval.datasets.loong import load_loong
from eval.datasets.musique import load_musique
from eval.datasets.nq_open_oracle import load_nq_open_oracle
from eval.datasets.qasper import load_qasper
from eval.datasets.qmsum import load_qmsum
from eval.options import data_folder
from eval.sample import Benchmark, Gold, Sample, SourceDocument

POOL = 20
"""Paragraphs that a question of NQ is asked of, at least: as many as MuSiQue gives."""

Role: TypeAlias = Literal["headline", "smoke", "control", "scattered"]


@dataclass(frozen=True)
class Dataset:
    """A dataset of the benchmark.

    Args:
        folder: Its name in the data folder.
        load: Its folder to its questions.
        role: ``headline``: long documents with labelled evidence; ``smoke``: too few questions to decide anything;
            ``control``: paragraphs without structure; ``scattered``: evidence in many documents.
        metrics: Names of the measures that mean something here (`bench.retrieval.measures`).
    """

    folder: str
    load: Callable[[Path], Iterable[Question]]
    role: Role
    metrics: tuple[str, ...]


def qmsum(folder: Path) -> Iterator[Question]:
    """QMSum (Zhong et al. 2021): specific queries over one meeting of about 10,800 words; evidence is turns.

    Test and validation: 321 questions, 48 meetings; gold is long, 560 words in the median. MIT, transcripts CC BY 4.0
    (AMI, ICSI) and of public committees.
    """
    return _labelled(map(load_qmsum, _files(folder, "*.jsonl")))


def fairytaleqa(folder: Path) -> Iterator[Question]:
    """FairytaleQA (Xu et al. 2022): questions on a tale of about 2,700 words; evidence is whole sections.

    Test and validation: 1,480 questions, 31 tales. Apache-2.0, tales in the public domain.
    """
    return _labelled([load_fairytaleqa(folder)])


def qasper(folder: Path) -> Iterator[Question]:
    """QASPER (Dasigi et al. 2021): questions on a paper of about 4,300 words; evidence is paragraphs, by annotator.

    A part of the training split: 26 questions with evidence in text, 7 papers. CC BY 4.0.
    """
    return _labelled(map(load_qasper, _files(folder, "*.json")), label="evidence")


def hotpotqa(folder: Path) -> Iterator[Question]:
    """HotpotQA (Yang et al. 2018), distractor setting: two hops over ten paragraphs; evidence is sentences.

    Samples of development and training split: 132 questions, 1,320 paragraphs. CC BY-SA 4.0.
    """
    return _labelled(map(load_hotpotqa, _files(folder, "*.json")))


def musique(folder: Path) -> Iterator[Question]:
    """MuSiQue (Trivedi et al. 2022): two to four hops over 20 paragraphs; evidence is paragraphs.

    A sample of the training split: 66 questions, 1,276 paragraphs. CC BY 4.0.
    """
    return _labelled(map(load_musique, _files(folder, "*.jsonl")))


def nq(folder: Path) -> Iterator[Question]:
    """NQ-open with gold paragraphs (Liu et al. 2023): evidence is the accepted answer where it stands.

    1,789 questions, 1,748 paragraphs of at most 100 words. The file gives one paragraph a question, which every budget
    would hold, so at least `POOL` of them in the order of their ids' digests make a pool, whatever they are about.
    NQ and Wikipedia CC BY-SA 3.0.
    """
    for benchmark in map(load_nq_open_oracle, _files(folder, "*.jsonl")):
        pools = _pools(benchmark.documents)
        for sample in benchmark.samples:
            yield _question(sample, [benchmark.documents[doc] for doc in pools[sample.documents[0]]], sample.gold)


def summhay(folder: Path) -> Iterator[Question]:
    """Summary of a Haystack (Laban et al. 2024): queries over the 100 documents of a news topic; gold is documents.

    An earlier release: 26 questions, 3 topics, 300 documents of about 800 words, written by a language model.
    Apache-2.0.
    """
    for file in _files(folder, "topic_*.json"):
        yield from load_summhay(file)


def loong(folder: Path) -> Iterator[Question]:
    """Loong (Wang et al. 2024): English questions of sets 1 and 2 over their own 2 to 5 documents; gold is documents.

    The filing that a spotlight question is about; all filings where companies or years are compared; the papers that
    cite the asked one or are cited. Papers of level 4 all have the same text for a question and are left out.
    202 questions, 257 documents of about 9,500 words. Questions Apache-2.0; the documents' licence is not stated.
    """
    benchmark = load_loong(folder)
    for sample in benchmark.samples:
        strata = sample.strata
        asks = strata["type"] == "financial" or strata["level"] == "3"
        documents = tuple(benchmark.documents[doc] for doc in sample.documents)
        gold = _relevant(sample, documents)
        if strata["language"] == "en" and strata["set"] in ("1", "2") and asks and gold:
            yield Question(id=sample.id, question=sample.query, documents=documents, gold_documents=gold)


DATASETS: Mapping[str, Dataset] = {
    "qmsum": Dataset("qmsum", qmsum, "headline", ("evidence_recall", "token_f1")),
    "fairytaleqa": Dataset("fairytaleqa", fairytaleqa, "headline", ("evidence_recall", "token_f1")),
    "qasper": Dataset("qasper", qasper, "smoke", ("evidence_recall", "token_f1", "token_recall")),
    "hotpotqa": Dataset("hotpotqa", hotpotqa, "control", ("evidence_recall", "token_f1", "document_recall")),
    "musique": Dataset("musique", musique, "control", ("evidence_recall", "token_f1", "document_recall")),
    "nq": Dataset("nq_open_oracle", nq, "control", ("evidence_recall", "document_recall")),
    "summhay": Dataset("summhay", summhay, "scattered", ("document_recall", "token_f1", "token_recall")),
    "loong": Dataset("loong", loong, "scattered", ("document_recall",)),
}


def load_cases(dataset: str) -> tuple[Case, ...]:
    """The questions of a dataset in both halves, in file order, from the folder that `eval.options` finds.

    Raises:
        ConfigError: There is no dataset of that name.
        MissingPathError: The data folder, or the dataset in it, does not exist; says what to set.
        DataError: A file is not in its official format.
        InvariantError: One document id stands for two texts.
    """
    if dataset not in DATASETS:
        raise ConfigError(f"There is no dataset {dataset!r}.", hint=f"There are {', '.join(DATASETS)}.")
    chosen = DATASETS[dataset]
    folder = data_folder() / chosen.folder
    if not folder.is_dir():
        raise MissingPathError(f"{folder} is no folder.", hint=f"Set {DATA_VARIABLE} to the folder of the datasets.")
    return cases(dataset, tuple(chosen.load(folder)))


def _files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.glob(pattern))
    if not found:
        raise MissingPathError(f"{folder} has no {pattern}.", hint=f"Is {DATA_VARIABLE} the folder of the datasets?")
    return found


def _labelled(benchmarks: Iterable[Benchmark], label: str = "") -> Iterator[Question]:
    """The questions with gold evidence over their own documents; of the evidence the pieces with that label."""
    for benchmark in benchmarks:
        for sample in benchmark.samples:
            gold = tuple(piece for piece in sample.gold if label in ("", piece.label))
            if gold:
                yield _question(sample, [benchmark.documents[doc] for doc in sample.documents], gold)


def _question(sample: Sample, documents: Iterable[SourceDocument], gold: tuple[Gold, ...]) -> Question:
    return Question(
        id=sample.id,
        question=sample.query,
        documents=tuple(documents),
        evidence=gold,
        gold_documents=frozenset(place.doc for piece in gold for place in piece.anywhere),
    )


def _pools(ids: Iterable[str]) -> dict[str, list[str]]:
    """For each document the ids of its pool, in the order of their digests."""
    ordered = sorted(ids, key=digest)
    count = max(1, len(ordered) // POOL)
    pools = [ordered[i * len(ordered) // count : (i + 1) * len(ordered) // count] for i in range(count)]
    return {doc: pool for pool in pools for doc in pool}


def _relevant(sample: Sample, documents: Iterable[SourceDocument]) -> frozenset[str]:
    """Ids of the documents that an answer to a Loong question needs; none where the answer's number is not found."""
    if sample.strata["type"] == "paper":
        titles = [_letters(title) for title in sample.titles]
        return frozenset(d.id for d in documents if any(title in _letters(d.title) for title in titles))
    if sample.strata["level"] == "1":
        return frozenset(place.doc for piece in sample.gold for place in piece.anywhere)
    return frozenset(sample.documents)


def _letters(title: str) -> str:
    """What two spellings of a title share, as `eval.datasets.loong` matches them."""
    return "".join(character for character in title.casefold() if character.isalnum())
