"""The learning curve of the reranker that reads a sentence in its passage: ``python -m bench.reranker [MODEL...]``.

Each MODEL is a folder that ``training.reranker`` wrote. Next to them the packaged reranker reads the same sentences:
``packaged`` bare, or under their document's title where a question has several documents, and ``0`` in their passages.
Only development parts are read.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from bench.answers.baselines import Bm25, passage_places, sentence_places, top
from bench.answers.replies import complete_lines
from bench.answers.scores import is_inside
from bench.answers.sets import FITTED, restrict, spread
from bench.report import table, write
from bench.stats import Floats, auc, estimate, mean
from discorag.models.cross_encoder import OnnxCrossEncoder
from discorag.models.packaged import MS_MARCO_MINILM, packaged_folder
from discorag.schema.values import Span, digest
from eval.datasets.clapnq import load_clapnq
from eval.datasets.hotpotqa import load_hotpotqa
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument
from eval.splits import groups
from training.reranker.groups import in_passage
from training.reranker.questions import Question, read_questions

RESULT = Path(__file__).parent / "results/reranker.json"
READ = 12
"""How many sentences are read for a question: the best by BM25."""
UNSEEN = ("covidqa", "tatqa")
"""Sets that are never trained on."""
POOLED = ("clapnq", "hotpotqa", "squad2")


@dataclass(frozen=True)
class Case:
    """A question with the texts that the rerankers read.

    Args:
        sentences: Bare, or under the title if there are several documents.
        placed: The same sentences in their passages.
        passages: The same texts in passages of up to a hundred words.
        right: Whether a sentence is evidence.
    """

    id: str
    question: str
    sentences: tuple[str, ...]
    placed: tuple[str, ...]
    passages: tuple[str, ...]
    right: tuple[bool, ...]
    answerable: bool


def benchmarks(data: Path, most: int) -> dict[str, Benchmark]:
    """The development parts, at most ``most`` questions of each."""
    clapnq, titles = load_clapnq(data / "clapnq"), {t for part in FITTED for t in groups("clapnq", part)}
    some = [s for s in clapnq.samples if clapnq.documents[s.documents[0]].title in titles]
    hotpotqa = load_hotpotqa(data / "hotpotqa/hotpot_train_sample100.json")
    ids = {i for part in FITTED for i in groups("hotpotqa", part)}
    reading = data / "reading"
    squad = [q for name in ("squad2", "squad2b") for q in read_questions(reading / name / f"{name}.jsonl.gz")]
    return {
        "clapnq": restrict(clapnq, spread(some, most)),
        "hotpotqa": restrict(hotpotqa, spread((s for s in hotpotqa.samples if s.id in ids), most)),
        "squad2": benchmark_of((q for q in squad if q.held_out), most),
        **{
            name: benchmark_of(
                (q for q in read_questions(reading / name / f"{name}.jsonl.gz") if not q.held_out), most // 2
            )
            for name in UNSEEN
        },
    }


def benchmark_of(questions: Iterable[Question], most: int) -> Benchmark:
    """Questions over a passage of their own; its sentences that answer are the gold evidence. Half do not answer."""
    documents, samples = dict[str, SourceDocument](), list[Sample]()
    for question in sorted(questions, key=lambda q: digest(q.id)):
        passage = digest(question.passage)[:16]
        documents[passage] = SourceDocument(id=passage, title=question.title, text=question.passage)
        right = (s for s, is_right in zip(question.sentences, question.right, strict=True) if is_right)
        gold = tuple(Gold(label="answer", anywhere=(DocSpan(doc=passage, span=s),)) for s in right)
        if bool(gold) == bool(question.answers):
            samples.append(
                Sample(id=question.id, query=question.text, documents=(passage,), gold=gold, answerable=bool(gold))
            )
    benchmark = Benchmark(name="reading", documents=documents, samples=tuple(samples))
    kinds = ([s for s in samples if s.answerable is kind] for kind in (True, False))
    return restrict(benchmark, [s for kind in kinds for s in spread(kind, most // 2)])


def cases(benchmark: Benchmark) -> Iterator[Case]:
    """The questions with the sentences that BM25 finds in their documents, and the passages of these documents."""
    for sample in benchmark.samples:
        documents = [benchmark.documents[doc] for doc in sample.documents]
        found = [(d, sentence_places(d), at) for d in documents for at in range(len(sentence_places(d)))]
        texts = [_under(d, places[at].span, len(documents)) for d, places, at in found]
        best = sorted(top(Bm25(texts).scores(sample.query))[:READ])
        passages = passage_places([p for d in documents for p in sentence_places(d)], benchmark.documents)
        wide = [_under(benchmark.documents[p.doc], p.span, len(documents)) for p in passages]
        yield Case(
            id=sample.id,
            question=sample.query,
            sentences=tuple(texts[i] for i in best),
            placed=tuple(
                in_passage(d.title.replace(" / ", " > "), d.text, [p.span for p in places], at)
                for d, places, at in (found[i] for i in best)
            ),
            passages=tuple(wide[i] for i in top(Bm25(wide).scores(sample.query))[:5]),
            right=tuple(is_inside(places[at], sample.gold) for _, places, at in (found[i] for i in best)),
            answerable=sample.answerable,
        )


def _under(document: SourceDocument, span: Span, documents: int) -> str:
    return f"{document.title}. {span.of(document.text)}" if documents > 1 else span.of(document.text)


@dataclass(frozen=True)
class Scores:
    """The scores that a model gives to a case.

    Args:
        order: Score of each sentence that was read.
        best: For each baseline or output, the score of its best text: whether the question is answered.
    """

    order: tuple[float, ...]
    best: dict[str, float]


def packaged_scores(model: OnnxCrossEncoder, case: Case) -> Scores:
    """The packaged reranker over sentences and passages, as it is used today."""
    bare, wide = (model.logits([(case.question, t) for t in texts])[:, 0] for texts in (case.sentences, case.passages))
    return Scores(tuple(map(float, bare)), {"sentence": float(bare.max()), "passage": float(wide.max())})


def placed_scores(model: OnnxCrossEncoder, case: Case) -> Scores:
    """A model over sentences in their passages: its first output orders, its last one says whether they answer."""
    found = model.logits([(case.question, text) for text in case.placed])
    return Scores(tuple(map(float, found[:, 0])), {"answerable": float(found[:, -1].max())})


def figures(found: Mapping[str, Sequence[Case]], scores: Mapping[str, Mapping[str, Scores]]) -> dict[str, Any]:
    """First sentences and separation of each model, with the differences to the packaged reranker, paired.

    Args:
        found: Set -> its cases.
        scores: Model -> id of a case -> scores; the packaged reranker is ``packaged``.
    """
    known: dict[str, Any] = {name: _of_set(some, scores) for name, some in found.items()}
    pooled = [case for name in POOLED for case in found[name] if case.answerable]
    return known | {"pooled": _first(pooled, scores)}


def _of_set(some: Sequence[Case], scores: Mapping[str, Mapping[str, Scores]]) -> dict[str, Any]:
    answered = [case for case in some if case.answerable]
    known = _first(answered, scores)
    if len(answered) < len(some):
        known |= {"unanswerable": len(some) - len(answered), "auc": _separation(some, scores)}
    return known


def _first(answered: Sequence[Case], scores: Mapping[str, Mapping[str, Scores]]) -> dict[str, Any]:
    """How often the first sentence is evidence, in per cent."""
    hits = {
        name: np.array([100.0 * case.right[top(np.array(own[case.id].order))[0]] for case in answered])
        for name, own in scores.items()
    }
    gains = {name: mean(own - hits["packaged"], 1) for name, own in hits.items() if name != "packaged"}
    return {"n": len(answered), "first": {n: mean(own, 1) for n, own in hits.items()}, "first_gain": gains}


def _separation(some: Sequence[Case], scores: Mapping[str, Mapping[str, Scores]]) -> dict[str, Any]:
    """AUC of answerable questions above the others; gains are over the packaged reranker's best passage."""

    def column(name: str, key: str) -> tuple[Floats, Floats]:
        values = {kind: [scores[name][c.id].best[key] for c in some if c.answerable is kind] for kind in (True, False)}
        return np.array(values[True]), np.array(values[False])

    packaged = {key: column("packaged", key) for key in ("passage", "sentence")}
    known: dict[str, Any] = {f"packaged_{key}": estimate(auc, *own) for key, own in packaged.items()}
    for name in scores:
        if name != "packaged":
            own = column(name, "answerable")
            pairs = [np.stack(both, 1) for both in zip(own, packaged["passage"], strict=True)]
            known[name] = estimate(auc, *own)
            known[f"{name}_gain"] = estimate(_auc_gain, *pairs)
    return known


def _auc_gain(positive: Floats, negative: Floats) -> float:
    return auc(positive[:, 0], negative[:, 0]) - auc(positive[:, 1], negative[:, 1])


def score_all(folder: Path, name: str, found: Iterable[Case], home: Path) -> dict[str, Scores]:
    """The scores of a model by case; those stored below ``home`` are not computed again."""
    path = home / f"{digest((folder / 'model.onnx').read_bytes())[:16]}-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = map(json.loads, complete_lines(path))
    known = {row["id"]: Scores(tuple(row["order"]), row["best"]) for row in rows}
    model, read = OnnxCrossEncoder(folder), packaged_scores if name == "packaged" else placed_scores
    with path.open("a", encoding="utf-8", buffering=1) as file:
        for case in track([case for case in found if case.id not in known], description=name):
            known[case.id] = read(model, case)
            file.write(json.dumps({"id": case.id, **vars(known[case.id])}) + "\n")
    return known


def main(
    models: Annotated[list[Path] | None, typer.Argument(help="Folders that training.reranker wrote.")] = None,
    data: Annotated[Path, typer.Option(help="The benchmarks' data.")] = Path("../shared/data"),
    most: Annotated[int, typer.Option(help="Questions from each set.")] = 200,
    home: Annotated[Path, typer.Option(help="Folder of stored scores.")] = Path(".disco-rag/bench/reranker"),
    out: Path = RESULT,
) -> None:
    """Score all models on the same questions and write the figures."""
    found = {name: list(cases(benchmark)) for name, benchmark in benchmarks(data, most).items()}
    every = [case for some in found.values() for case in some]
    records = [json.loads((folder / "record.json").read_text("utf-8")) for folder in models or ()]
    packaged = packaged_folder(MS_MARCO_MINILM.name)
    folders = {"packaged": packaged, "0": packaged}
    folders |= {str(r["groups"]): folder for r, folder in zip(records, models or (), strict=True)}
    scores = {name: score_all(folder, name, every, home) for name, folder in folders.items()}
    known = {**figures(found, scores), "trained": {str(record["groups"]): record for record in records}}
    write(out, known)
    Console().print(table(known))


if __name__ == "__main__":
    typer.run(main)
