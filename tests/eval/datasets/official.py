"""The fixtures in the datasets' official forms: where they are, changed copies, and what their evidence says."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.sample import Benchmark, Sample
from tests.eval.helpers import FIXTURES

FILES = {
    "asqa-pages": "asqa/pages",
    "asqa-pooled": "asqa/asqa_eval_pooled.json",
    "clapnq": "clapnq",
    "conditionalqa": "conditionalqa",
    "eli5": "eli5/eli5_eval_bm25_top100.json",
    "fairytaleqa": "fairytaleqa",
    "hotpotqa": "hotpotqa/hotpot_dev_distractor_sample100.json",
    "lay-summaries": "lay_summaries/test.json",
    "loong": "loong",
    "musique": "musique/musique_tiny.jsonl",
    "narrativeqa": "narrativeqa/narrativeqa.jsonl",
    "nq-open-oracle": "nq_open_oracle/nq-open-oracle.jsonl",
    "qampari": "qampari/qampari_eval_gtr_top100.json",
    "qasper": "qasper/qasper-sample-v0.3.json",
    "qmsum": "qmsum/test.jsonl",
    "quality": "quality/QuALITY.part.htmlstripped.dev",
    "ramdocs": "contradiction/ramdocs/RAMDocs_test.jsonl",
    "scinews": "scinews/test.json",
    "summhay": "summhay",
    "triviaqa": "triviaqa/retrieved_pooled.jsonl",
    "wikicontradict": "contradiction/wikicontradict/wiki_contradict_refined.jsonl",
}
GONE = object()
"""In place of a value: the field is removed."""


def entries_of(dataset: str) -> Any:
    """The entries of a fixture that is one file, and whether they are lines."""
    text = (FIXTURES / FILES[dataset]).read_text("utf-8")
    try:
        return json.loads(text), False
    except ValueError:
        return [json.loads(line) for line in text.splitlines()], True


def changed(dataset: str, folder: Path, place: Sequence[str | int], value: Any) -> Path:
    """A copy of a fixture with another value at one place, or without it."""
    entries, is_lines = entries_of(dataset)
    *way, last = place
    inside = entries
    for key in way:
        inside = inside[key]
    if value is GONE:
        del inside[last]
    else:
        inside[last] = value
    target = folder / Path(FILES[dataset]).name
    target.write_text("\n".join(map(json.dumps, entries)) if is_lines else json.dumps(entries), "utf-8")
    return target


def gold_texts(benchmark: Benchmark, sample: Sample) -> list[tuple[str, list[str]]]:
    """The label of each piece of gold evidence, and the text at each of its places."""
    return [
        (gold.label, [place.span.of(benchmark.documents[place.doc].text) for place in gold.anywhere])
        for gold in sample.gold
    ]
