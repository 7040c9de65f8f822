"""Questions with labelled evidence on which nothing was fitted: some ask for one fact, others for an overview."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from discorag.schema.values import digest
from eval.datasets.asqa import load_asqa_pooled
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.hotpotqa import load_hotpotqa
from eval.datasets.musique import load_musique
from eval.datasets.qmsum import load_qmsum
from eval.datasets.ramdocs import load_ramdocs
from eval.datasets.summhay import load_topic
from eval.datasets.wikicontradict import load_wikicontradict
from eval.sample import Benchmark
from eval.splits import groups

TALES = 12


@dataclass(frozen=True)
class Questions:
    """Questions that are asked over one pool of documents.

    Args:
        benchmark: The pool, and the questions.
        is_own: Whether a question is asked over its own documents instead of the whole pool.
    """

    benchmark: Benchmark
    is_own: bool = False


def ramdocs(data: Path) -> Iterator[Questions]:
    """Questions over the documents of all of them; each right answer is a piece, in any document of the question that
    is right about it.
    """
    yield Questions(load_ramdocs(data / "contradiction/ramdocs/RAMDocs_test.jsonl"))


def summhay(data: Path) -> Iterator[Questions]:
    """Overviews over the hundred articles of a topic; each insight is a piece: the sentence that states it, in any
    article that includes it.
    """
    for path in sorted((data / "summhay").glob("topic_*.json")):
        yield Questions(load_topic(path))


def asqa(data: Path) -> Iterator[Questions]:
    """Ambiguous questions over the passages of all of them; each reading's answer is a piece."""
    yield Questions(load_asqa_pooled(data / "asqa/asqa_eval_pooled.json"))


def hotpotqa(data: Path) -> Iterator[Questions]:
    """Questions of two hops over the paragraphs of all of them; each supporting sentence is a piece."""
    yield Questions(_scored(load_hotpotqa(data / "hotpotqa/hotpot_dev_distractor_sample100.json"), "hotpotqa"))


def musique(data: Path) -> Iterator[Questions]:
    """Questions of two to four hops over the paragraphs of all of them; each supporting paragraph is a piece."""
    yield Questions(_scored(load_musique(data / "musique/musique_ans_train_sample100.jsonl"), "musique"))


def wikicontradict(data: Path) -> Iterator[Questions]:
    """Questions over the passages of all of them; each has two pieces, which contradict each other."""
    yield Questions(load_wikicontradict(data / "contradiction/wikicontradict/wiki_contradict_refined.jsonl"))


def fairytaleqa(data: Path) -> Iterator[Questions]:
    """Questions, each over its own tale; the pieces are the paragraphs that hold its answer."""
    loaded = load_fairytaleqa(data / "fairytaleqa")
    tales = sorted(groups("fairytaleqa", "score"), key=digest)[:TALES]
    samples = tuple(s for s in loaded.samples if s.documents[0] in tales)
    yield Questions(loaded.model_copy(update={"samples": samples}), is_own=True)


def qmsum(data: Path) -> Iterator[Questions]:
    """Questions, each over its own meeting; the pieces are the stretches of turns that it is about."""
    loaded, meetings = load_qmsum(data / "qmsum/test.jsonl"), groups("qmsum", "score")
    samples = tuple(s for s in loaded.samples if s.documents[0] in meetings)
    yield Questions(loaded.model_copy(update={"samples": samples}), is_own=True)


def _scored(benchmark: Benchmark, dataset: str) -> Benchmark:
    scored = groups(dataset, "score")
    return benchmark.model_copy(update={"samples": tuple(s for s in benchmark.samples if s.id in scored)})


SETS: Mapping[str, Callable[[Path], Iterator[Questions]]] = {
    f.__name__: f for f in (hotpotqa, musique, asqa, ramdocs, wikicontradict, fairytaleqa, qmsum, summhay)
}


def load(name: str, data: Path, most: int) -> Iterator[Questions]:
    """A set's questions that have gold evidence, at most ``most`` in all, chosen by their ids' digests; with their
    documents.
    """
    for questions in SETS[name](data):
        labelled = (s for s in questions.benchmark.samples if s.gold)
        chosen = list(islice(sorted(labelled, key=lambda s: digest(s.id)), most))
        most -= len(chosen)
        if chosen:
            yield Questions(questions.benchmark.narrow(chosen), questions.is_own)
