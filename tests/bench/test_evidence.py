"""A rule over logits is compared with the fixed number that has the same mean, on questions it was not chosen on."""

import gzip
import json
from pathlib import Path

import pytest

from bench.evidence.__main__ import Ranked, choose, compare, mean_over_sets
from bench.evidence.candidates import Candidates, collect, open_backends
from bench.evidence.chinese import load
from bench.evidence.rules import FAMILIES
from bench.evidence.sets import Questions
from discorag.schema.values import Span
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument


def question(name: str, gold: list[int], logits: list[float]) -> Ranked:
    """Forty or fewer candidates, one piece of evidence in each of ``gold``."""
    covers = tuple(({i: 1.0},) for i in gold)
    tokens = (10,) * len(logits)
    return Ranked(Candidates(key=("set", name), logits=tuple(logits), tokens=tokens, covers=covers))


def told_apart() -> list[Ranked]:
    """Questions of which half need one candidate and half need nine, as their logits say."""
    few, many = [9.0, *[-9.0] * 19], [*[9.0] * 9, *[-9.0] * 11]
    return [question(f"{n}", [0], few) for n in range(40)] + [question(f"{n}w", [*range(9)], many) for n in range(40)]


def test_a_cut_wins_where_logits_tell_what_is_needed_and_a_fixed_number_ties_with_itself() -> None:
    questions = told_apart()
    cut, fixed = compare(FAMILIES["gap"], questions, 7), compare(FAMILIES["fixed"], questions, 7)
    assert cut["recall"] == 100.0
    assert cut["less_fixed"]["low"] > 0
    assert fixed["less_fixed"]["value"] == pytest.approx(0, abs=0.1)
    assert [q.needed for q in questions] == [1] * 40 + [9] * 40


def test_the_chosen_rule_keeps_to_the_budget() -> None:
    questions = told_apart()
    rule = FAMILIES["absolute"][choose(FAMILIES["absolute"], questions, 7)]
    assert mean_over_sets(questions, lambda q: q.count(rule)) <= 7


def test_chinese_questions_are_asked_over_the_passages_of_all_of_them(tmp_path: Path) -> None:
    contexts = {"苹果": "苹果是红色的水果。", "海": "海水是咸的，因为有盐。"}
    answers = {"苹果": "红色", "海": "有盐"}
    lines = [
        {
            "id": title,
            "question": f"{title}？",
            "title": title,
            "context": text,
            "answers": [{"text": answers[title], "start": text.index(answers[title])}],
        }
        for title, text in contexts.items()
    ]
    file = tmp_path / "cmrc2018.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    found = load(file, most=1)
    assert {d.text for d in found.documents.values()} == {*contexts.values()}
    [sample] = found.samples
    [place] = sample.gold[0].anywhere
    assert place.span.of(found.documents[place.doc].text) == answers[sample.id]


def test_candidates_hold_the_evidence_and_are_asked_for_once(tmp_path: Path) -> None:
    texts = {"mill": "A flood took the wheel in 1903.", "bees": "Bees dance to tell where flowers are."}
    documents = {name: SourceDocument(id=name, title=name, text=text) for name, text in texts.items()}
    place = DocSpan(doc="mill", span=Span(start=0, end=len(texts["mill"])))
    sample = Sample(id="q", query="What took the wheel?", gold=(Gold(label="s", anywhere=(place,)),))
    asked = Questions(Benchmark(name="b", documents=documents, samples=(sample,)))
    file = tmp_path / "candidates.jsonl"
    with open_backends() as backends:
        [first] = collect("set", asked, backends, file)
        [again] = collect("set", asked, backends, file)
    assert first == again
    assert first.recall([first.logits.index(max(first.logits))]) == 1.0
    assert len(file.read_text("utf-8").splitlines()) == 1
