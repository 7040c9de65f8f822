"""What the benchmark makes of a verifier's answers, and how it counts rules."""

from pathlib import Path

import pytest

from bench.verify.__main__ import recall_at
from bench.verify.judged import judged
from bench.verify.rules import OTHER, PROSE, ROOT, RULES, code_lines, lines_by_module, rule_lines, tables
from discorag.models.protocol import Encoder
from discorag.verification.local import LocalJudge
from discorag.verification.tracing import TracingVerifier

MOST_RULES = 600
"""The aim is 600; a third of the lines are the disagreement detector's, which is still rules."""


def test_recall_is_taken_where_a_tenth_of_the_supported_lies_below_the_threshold() -> None:
    supported = [0.1, 0.3, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 1.0]
    assert recall_at([True] * 10 + [False] * 2, [*supported, 0.2, 0.4]) == 0.5


async def test_a_draft_is_supported_if_all_its_sentences_are_and_scores_as_the_least(encoder: Encoder) -> None:
    verifier = TracingVerifier(encoder, LocalJudge())
    documents = {"a": "The ferry sailed on Monday.", "b": "The mill closed in 1903."}
    both = await judged(verifier, documents, "The ferry sailed on Monday. The mill closed in 1903.")
    one = await judged(verifier, documents, "The ferry sailed on Monday. The mill closed in 1930.")
    assert (both.supported, both.score, one.supported) == (True, 1.0, False)
    assert one.score < 1


def test_docstrings_comments_and_blank_lines_are_no_rules_and_a_long_line_is_several() -> None:
    source = f'"""Says.\n\nMore."""\n\n# why\nA = "{"x" * 200}"\n\n\ndef f():\n    """D."""\n    return 1\n'
    assert code_lines(source) == 2 + 2


def test_a_table_is_found_by_the_words_in_it() -> None:
    source = 'A = {"one", "two", "three", "four", "five", "six"}\nB = ("a-b", 3)\nC = "six words are enough to count"\n'
    assert [*tables(source)] == [("A", 1), ("C", 1)]


def test_hand_written_rules_stay_few() -> None:
    assert rule_lines() <= MOST_RULES


def test_every_table_of_words_is_counted_or_named_as_something_else() -> None:
    files = {str(f.relative_to(ROOT / "discorag"))[:-3]: f for f in (ROOT / "discorag").rglob("*.py")}
    found = {name for name, file in files.items() if [*tables(file.read_text("utf-8"))]}
    assert found - {*RULES, *PROSE, *OTHER} == set()


@pytest.mark.parametrize("name", RULES)
def test_every_module_of_rules_is_there_and_counted(name: str) -> None:
    assert Path(ROOT / "discorag" / f"{name}.py").is_file()
    assert lines_by_module()[name] > 5
