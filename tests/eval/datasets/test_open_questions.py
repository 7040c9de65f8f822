"""NarrativeQA, TriviaQA, QAMPARI and ELI5 in the forms in which they are passed on."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.alce import load_eli5, load_qampari
from eval.datasets.narrativeqa import load_narrativeqa
from eval.datasets.triviaqa import load_triviaqa
from eval.errors import DataError
from tests.eval.helpers import FIXTURES

NARRATIVE = FIXTURES / "narrativeqa/narrativeqa.jsonl"
TRIVIA = FIXTURES / "triviaqa/retrieved_pooled.jsonl"
QAMPARI = FIXTURES / "qampari/qampari_eval_gtr_top100.json"
ELI5 = FIXTURES / "eli5/eli5_eval_bm25_top100.json"


def written(folder: Path, rows: list[dict[str, Any]], *, lines: bool) -> Path:
    path = folder / "data.json"
    path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows), encoding="utf-8")
    return path


def test_questions_about_one_story_share_it() -> None:
    benchmark = load_narrativeqa(NARRATIVE)
    assert [s.documents for s in benchmark.samples] == [("story-1",), ("story-1",), ("story-2",)]
    assert list(benchmark.documents) == ["story-1", "story-2"]
    first = benchmark.samples[0]
    assert first.references == first.short_answers[0]
    assert len(first.references) == 2
    assert benchmark.documents["story-1"].text.startswith("THE LAMP KEEPER\n\nChapter I")


def test_trivia_is_asked_over_the_passages_of_all_questions_and_an_alias_in_the_own_ones_is_evidence() -> None:
    benchmark = load_triviaqa(TRIVIA)
    ferry, builder = benchmark.samples
    assert ferry.documents == ("test_1-0", "test_1-1")
    assert builder.documents == ("test_1-0", "test_2-1")  # the same passage is kept once
    found = {p.span.of(benchmark.documents[p.doc].text) for g in ferry.gold for p in g.anywhere}
    assert {"River Amble", "Amble"} <= found
    assert builder.gold == ()
    assert benchmark.dropped == {"questions whose answer is in none of their passages": 1}


def test_a_list_question_has_one_point_for_each_answer_and_evidence_where_an_alias_stands() -> None:
    benchmark = load_qampari(QAMPARI)
    towns, built = benchmark.samples
    assert towns.short_answers == (("Hollin Ferry", "Hollin"), ("Sedge",), ("Port Amble",))
    assert [g.label for g in towns.gold] == ["Hollin Ferry", "Sedge"]
    assert towns.documents[1] == built.documents[0]
    assert benchmark.dropped == {"answers that are in none of their question's passages": 1}


def test_an_explanation_has_claims_and_a_reference() -> None:
    first, second = load_eli5(ELI5).samples
    assert (first.id, second.id, len(first.claims)) == ("eli5-0", "eli5-1", 3)
    assert first.references[0].startswith("They hang on a chain")
    assert first.documents == ("eli5-0-0", "eli5-0-1")


@pytest.mark.parametrize(("load", "path"), [(load_qampari, QAMPARI), (load_eli5, ELI5)])
def test_alces_files_without_passages_are_refused(load: Any, path: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{**row, "docs": []} for row in json.loads(path.read_text("utf-8"))]
    with pytest.raises(DataError, match="no entry has docs"):
        load(written(tmp_path, rows, lines=False))


@pytest.mark.parametrize(
    ("load", "path", "field"),
    [
        (load_narrativeqa, NARRATIVE, "context"),
        (load_triviaqa, TRIVIA, "golden_answers"),
        (load_qampari, QAMPARI, "answers"),
        (load_eli5, ELI5, "claims"),
    ],
)
def test_a_missing_field_is_named(load: Any, path: Path, field: str, tmp_path: Path) -> None:
    lines = path.suffix == ".jsonl"
    text = path.read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    del rows[1][field]
    with pytest.raises(DataError, match=rf"data\.json.*{field}: Field required"):
        load(written(tmp_path, rows, lines=lines))


@pytest.mark.parametrize(("load", "path"), [(load_narrativeqa, NARRATIVE), (load_triviaqa, TRIVIA)])
def test_an_id_that_comes_twice_is_named(load: Any, path: Path, tmp_path: Path) -> None:
    first = json.loads(path.read_text("utf-8").splitlines()[0])
    with pytest.raises(DataError, match="appears twice"):
        load(written(tmp_path, [first, first], lines=True))
