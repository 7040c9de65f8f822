"""The questions of each set on which nothing was fitted or chosen, and the documents over which they are asked."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from discorag.schema.values import digest
from eval.datasets.acl_verbatim import load_acl_verbatim
from eval.datasets.clapnq import load_clapnq
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.hotpotqa import load_hotpotqa
from eval.datasets.mtrag_un import load_mtrag_un
from eval.datasets.qasper import load_qasper
from eval.datasets.triviaqa import load_triviaqa
from eval.datasets.wikicontradict import load_wikicontradict
from eval.sample import Benchmark, Sample
from eval.splits import Part, groups

MANY, SOME, HALF = 300, 200, 150
FITTED: tuple[Part, ...] = ("train", "choose")

ATTRIBUTES = Path(__file__).with_name("attributes.json")
"""Questions with the sample whose passages they are asked over, and beginnings of words that none of these has."""

Within = Callable[[Sample], tuple[str, ...]]


@dataclass(frozen=True)
class Run:
    """Questions that are asked in one way.

    Args:
        name: Set and way, e.g. ``fairytaleqa/own``; a set of two files has two runs of one name.
        benchmark: The documents that are ingested, and the questions.
        within: The documents over which a question is asked; empty: all.
    """

    name: str
    benchmark: Benchmark
    within: Within

    @property
    def forced(self) -> bool:
        """Whether a refused question is asked again with ``abstain="never"``: figures of ranking need an answer."""
        return self.name in KEYS["first_sentence"]

    @property
    def ranked(self) -> bool:
        """Whether the baselines answer it too."""
        return any(self.name in KEYS[key] for key in RANKED)


def own(sample: Sample) -> tuple[str, ...]:
    """The question's own documents."""
    return sample.documents


def everything(_sample: Sample) -> tuple[str, ...]:
    """All documents of the set."""
    return ()


def without_gold(sample: Sample) -> tuple[str, ...]:
    """The question's own documents but those that hold gold evidence."""
    gold = {place.doc for piece in sample.gold for place in piece.anywhere}
    return tuple(doc for doc in sample.documents if doc not in gold)


def spread(samples: Iterable[Sample], count: int) -> tuple[Sample, ...]:
    """At most ``count`` samples, spread over their first documents, the same ones every time."""
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, str, Sample]] = []
    for sample in sorted(samples, key=lambda s: digest(s.id)):
        ranked.append((seen[sample.documents[0]], digest(sample.id), sample))
        seen[sample.documents[0]] += 1
    return tuple(sample for *_, sample in sorted(ranked, key=lambda r: r[:2])[:count])


def restrict(benchmark: Benchmark, samples: Iterable[Sample], name: str = "") -> Benchmark:
    """The benchmark with these questions and their documents alone."""
    chosen = tuple(samples)
    named = dict.fromkeys(doc for sample in chosen for doc in sample.documents)
    documents = {doc: benchmark.documents[doc] for doc in named}
    update = {"name": name or benchmark.name, "samples": chosen, "documents": documents}
    return benchmark.model_copy(update=update)


def clapnq(data: Path) -> Iterator[Run]:
    """Every question over its one passage; half of them cannot be answered from it."""
    benchmark, pages = load_clapnq(data / "clapnq"), groups("clapnq", "score")
    scored = (s for s in benchmark.samples if benchmark.documents[s.documents[0]].title in pages)
    yield Run("clapnq/own", restrict(benchmark, spread(scored, MANY)), own)


def fairytaleqa(data: Path) -> Iterator[Run]:
    """Over the question's own tale, over all tales, and over all but its own."""
    benchmark, tales = load_fairytaleqa(data / "fairytaleqa"), groups("fairytaleqa", "score")
    scored = restrict(benchmark, spread((s for s in benchmark.samples if s.documents[0] in tales), MANY))
    ids = tuple(scored.documents)
    yield Run("fairytaleqa/own", scored, own)
    half = scored.model_copy(update={"samples": scored.samples[:HALF]})
    yield Run("fairytaleqa/with", half, everything)
    yield Run("fairytaleqa/without", half, lambda sample: tuple(i for i in ids if i not in sample.documents))


def hotpotqa(data: Path) -> Iterator[Run]:
    """Over the question's ten paragraphs, with and without those that hold the answer."""
    scored = groups("hotpotqa", "score")
    for file in sorted((data / "hotpotqa").glob("*.json")):
        loaded = load_hotpotqa(file)
        benchmark = restrict(
            loaded, (s for s in loaded.samples if s.id in scored), f"hotpotqa-{file.stem.split('_')[1]}"
        )
        yield Run("hotpotqa/own", benchmark, own)
        yield Run("hotpotqa/without", benchmark, without_gold)


def qasper(data: Path) -> Iterator[Run]:
    """Answerable questions over their own paper."""
    benchmark, papers = load_qasper(data / "qasper/qasper-sample-v0.3.json"), groups("qasper", "score")
    scored = (s for s in benchmark.samples if s.documents[0] in papers and s.answerable)
    yield Run("qasper/own", restrict(benchmark, spread(scored, SOME)), own)


def nq(data: Path) -> Iterator[Run]:
    """Over a question's passages, one of which holds the answer; nothing was fitted on any of their pages.

    In the second run, `ATTRIBUTES` are asked after some of them: an attribute of a thing in a question's passages,
    none of which mentions it. The first half may be looked at, the other is kept apart.
    """
    benchmark = load_triviaqa(data / "nq/retrieved_pooled.jsonl")
    fitted = {page for name in ("nq_open_oracle", "clapnq") for part in FITTED for page in groups(name, part)}
    clean = (
        s for s in benchmark.samples if s.gold and not fitted & {benchmark.documents[d].title for d in s.documents}
    )
    scored = restrict(benchmark, spread(clean, SOME), "nq")
    yield Run("nq/own", scored, own)
    yield Run("nq/attributes", restrict(scored, _attributes(scored), "nq"), own)


def _attributes(scored: Benchmark) -> Iterator[Sample]:
    """Each question of `ATTRIBUTES` after its twin, the question over the same passages that they answer."""
    twins = {sample.id: sample for sample in scored.samples}
    for entry in json.loads(ATTRIBUTES.read_text("utf-8")):
        twin = twins[entry["twin"]]
        yield twin
        yield Sample(id=f"{twin.id}-attribute", query=entry["query"], documents=twin.documents, answerable=False)


def mtrag_un(data: Path) -> Iterator[Run]:
    """The last turn of each conversation over the passages of all tasks of its collection."""
    for loaded in load_mtrag_un(data / "mtrag-un/tasks.jsonl"):
        by_kind: dict[str, list[Sample]] = defaultdict(list)
        for sample in loaded.samples:
            by_kind[sample.strata["kind"]].append(sample)
        for kind, samples in by_kind.items():
            yield Run(f"mtrag_un/{kind}", loaded.model_copy(update={"samples": tuple(samples)}), everything)


def acl_verbatim(data: Path) -> Iterator[Run]:
    """Every query over its one chunk of a paper."""
    yield Run("acl_verbatim/own", load_acl_verbatim(data / "acl-verbatim/gold.jsonl"), own)


def wikicontradict(data: Path) -> Iterator[Run]:
    """Every question over two passages that answer it differently."""
    folder = data / "contradiction/wikicontradict"
    yield Run("wikicontradict/own", load_wikicontradict(folder / "wiki_contradict_refined.jsonl"), own)


SETS: Mapping[str, Callable[[Path], Iterator[Run]]] = {
    f.__name__: f for f in (clapnq, fairytaleqa, hotpotqa, qasper, nq, mtrag_un, acl_verbatim, wikicontradict)
}
TALES = ("fairytaleqa/with", "fairytaleqa/without")
PARAGRAPHS = ("hotpotqa/own", "hotpotqa/without")
KEYS: Mapping[str, tuple[str, ...]] = {
    "first_sentence": ("clapnq/own", "hotpotqa/own", "fairytaleqa/own", "nq/own", "qasper/own"),
    "f1": ("clapnq/own", "hotpotqa/own", "fairytaleqa/own"),
    "clapnq": ("clapnq/own",),
    "removed": (*TALES, *PARAGRAPHS),
    "mtrag_un": tuple(f"mtrag_un/{kind}" for kind in ("single", "conversation", "partial", "underspecified")),
    "acl_verbatim": ("acl_verbatim/own",),
    "both_sides": ("wikicontradict/own",),
    "attributes": ("nq/attributes",),
    "false_reports": ("fairytaleqa/with", "hotpotqa/own", "qasper/own", "nq/own"),
    "lint": ("clapnq/own", "hotpotqa/own", "fairytaleqa/own", "nq/own", "qasper/own"),
}
"""The runs that each key is computed from."""
RANKED = ("first_sentence", "f1", "clapnq", "removed", "mtrag_un", "acl_verbatim", "both_sides", "attributes")
"""Keys for which the baselines answer too."""


def runs(data: Path, keys: Iterable[str]) -> list[Run]:
    """The runs that these keys need, those of one corpus after another."""
    wanted = {name for key in keys for name in KEYS[key]}
    sets = dict.fromkeys(name.split("/")[0] for name in SETS if any(w.startswith(f"{name}/") for w in wanted))
    return [run for name in sets for run in SETS[name](data) if run.name in wanted]
