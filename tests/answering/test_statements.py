"""Replies with statements, in the forms in which models write them, and what of them is used."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.answering.json_replies import whole_items
from discorag.answering.statements import Collected, merge_schema, read_statements, statements_schema
from discorag.schema.statements import StatementRole, format_plan
from tests.answering.cases import chunk, inputs_over, reply, statement, written

CHUNKS = inputs_over().chunks


def read(text: str) -> Collected:
    return read_statements(text, CHUNKS)


def test_a_reply_becomes_statements_with_places_relations_and_a_plan() -> None:
    moved = [chunk("Vitamin D did not lower the risk.", start=1000)]
    graph = read_statements(written(statements=[statement(1, "It did not.", 1, "did not lower")]), moved).graph
    (quotation,) = graph.statements[0].quotations
    assert (quotation.text, quotation.chunk_id, quotation.spans[0].start) == ("did not lower", "c1", 1010)
    found = read(written())
    assert [s.passages for s in found.graph.statements] == [(1,), (2,), (3,)]
    assert [(r.source, r.relation, r.target) for r in found.graph.relations] == [(2, "CONTRADICTS", 1)]
    assert [step.statements for step in found.plan.steps] == [(1,), (2, 3)]
    assert found.graph.dropped.model_dump() == dict.fromkeys(found.graph.dropped.model_dump(), 0)


FORMS: dict[str, Callable[[str], str]] = {
    "fenced": lambda text: f"```json\n{text}\n```",
    "after prose": lambda text: f"Here is the {{JSON}} object you asked for:\n\n{text}\n\nLet me know!",
    "with trailing commas": lambda text: text.replace("}]", "},]").replace('""}', '"",}'),
    "with line breaks inside strings": lambda text: text.replace("did not lower the risk", "did not\nlower the risk"),
    "in a list": lambda text: f"[{text}]",
    "with numbers as text": lambda text: text.replace('"id": 1', '"id": "1"').replace(
        '"passage": 1', '"passage": "[1]"'
    ),
    "with flat steps": lambda text: text.replace("[[1], [2, 3]]", "[[1], 2, 3]"),
    "with other names": lambda text: text.replace("quotations", "quotes").replace('"answers"', '"Answer"'),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_reply_in_another_form_says_the_same(form: str) -> None:
    found = read(FORMS[form](written()))
    assert found.graph == read(written()).graph
    assert found.plan.numbers == (1, 2, 3)


def test_quotations_that_no_passage_has_go_with_all_that_rests_on_them_and_are_counted() -> None:
    statements = reply()["statements"]
    statements[1] = statement(2, "A review found 31 %.", 2, "lowered the risk of cancer by 31 %")
    found = read(written(statements=statements))
    assert [s.says[:3] for s in found.graph.statements] == ["Vit", "For"]
    assert found.graph.relations == ()
    assert found.plan.numbers == (1, 2)
    dropped = found.graph.dropped
    assert (dropped.quotations, dropped.statements, dropped.relations, dropped.steps) == (1, 1, 1, 1)


def test_a_quotation_under_a_wrong_number_is_found_where_it_is() -> None:
    graph = read(written(statements=[statement(1, "Not measured.", 1, "the effect was not measured")])).graph
    assert graph.statements[0].passages == (3,)
    assert graph.dropped.moved == 1


COLUMNS = "|项目|本期发生额|上期发生额|"
ROW = "|（二）稀释每股收益|0.16|0.73|"


@pytest.mark.parametrize("between", [" ... ", "\n", "", " … |（一）基本每股收益|0.17|0.73|\n"])
@pytest.mark.parametrize("before", ["", "Continues: "])
def test_the_header_row_shown_before_a_passage_is_taken_off_a_quotation(before: str, between: str) -> None:
    continued = chunk(f"|（一）基本每股收益|0.17|0.73|\n{ROW}", columns=COLUMNS, start=500)
    quoted = statement(1, "稀释每股收益为0.16元。", 1, f"{before}{COLUMNS}{between}{ROW}")
    graph = read_statements(written(statements=[quoted]), [continued]).graph
    (quotation,) = graph.statements[0].quotations
    assert [span.shifted(-500).of(continued.text) for span in quotation.spans][-1] == ROW
    assert COLUMNS not in quotation.text


def test_the_header_row_alone_is_no_quotation_of_the_passage() -> None:
    quoted = statement(1, "There are three columns.", 1, COLUMNS)
    with pytest.raises(ValueError, match="Not found"):
        read_statements(written(statements=[quoted]), [chunk(ROW, columns=COLUMNS)])


@pytest.mark.parametrize("words", ["Ada will pay for the bridge.", "Ada: I agree with the budget."])
def test_a_speaker_shown_before_a_passage_does_not_say_what_another_one_says(words: str) -> None:
    talk = chunk("We looked at the plan. Ben will pay for the bridge.\n\nBen: I agree with the budget.", columns="Ada")
    with pytest.raises(ValueError, match="Not found"):
        read_statements(written(statements=[statement(1, "Ada agrees.", 1, words)]), [talk])


def test_a_refusal_names_the_quotations_that_no_passage_has() -> None:
    lost = [statement(n, f"Point {n}.", 1, f"words that nobody wrote {n}") for n in (1, 2)]
    with pytest.raises(ValueError, match='Not found: "words that nobody wrote 1", "words that nobody wrote 2"'):
        read(written(statements=lost))


@pytest.mark.parametrize(
    ("changes", "relations", "steps"),
    [
        ({"relations": [{"from": 2, "relation": "CONTRADICTS", "to": 9, "about": ""}]}, 0, 2),
        ({"relations": [{"from": 1, "relation": "CONTRADICTS", "to": 1, "about": ""}]}, 0, 2),
        ({"relations": [{"from": 1, "relation": "ANNOYS", "to": 2, "about": ""}]}, 0, 2),
        ({"relations": [{"from": 2, "relation": "limits", "to": 1}] * 2}, 1, 2),
        ({"relations": "none"}, 0, 2),
        ({"relations": None, "order": None, "missing": None}, 0, 3),
        ({"order": [[1, 1], [1, 9]]}, 1, 1),
        ({"order": "1, 2"}, 1, 3),
    ],
)
def test_what_names_no_statement_is_left_out(changes: dict[str, Any], relations: int, steps: int) -> None:
    found = read(written(**changes))
    assert (len(found.graph.relations), len(found.plan.steps)) == (relations, steps)
    assert found.graph.missing == ""


def test_statements_of_the_same_id_are_both_used() -> None:
    statements = [dict(s, id=1) for s in reply()["statements"]]
    found = read(written(statements=statements, order=[[1]], relations=[]))
    assert len(found.graph.statements) == 3
    assert format_plan(found.plan).startswith(
        "1. answers: Vitamin D did not lower the risk of cancer in VITAL (2018) {1}"
    )


def test_no_statement_at_all_is_a_finding() -> None:
    found = read(written(statements=[], order=[], relations=[], missing="Which trial is meant."))
    assert (found.graph.statements, found.plan.steps, found.graph.missing) == ((), (), "Which trial is meant.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON object"),
        ("The passages disagree.", "no JSON object"),
        ('{"answer": 1}', "no JSON object"),
        ('{"statements": "Vitamin D"}', "list of objects"),
        ('{"statements": [{"id": 1, "says": "x"}]}', "word for word"),
        (written(statements=[statement(1, "It did.", 1, "vitamin D did lower the risk")]), "word for word"),
    ],
)
def test_a_reply_without_anything_usable_is_refused_with_what_to_write(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(text)


@given(st.integers(0, 900), st.integers(0, 60), st.text(alphabet='{}[],:"12 \n', max_size=12))
def test_a_damaged_reply_is_read_or_refused(at: int, length: int, junk: str) -> None:
    text = written()
    with suppress(ValueError):
        found = read(text[:at] + junk + text[at + length :])
        places = [(q, span) for s in found.graph.statements for q in s.quotations for span in q.spans]
        assert all(span.of(CHUNKS[q.passage - 1].text) == q.text for q, span in places)


@given(st.integers(0, 2000))
def test_a_reply_that_was_cut_off_keeps_its_whole_statements(at: int) -> None:
    text = written()[:at]
    whole = text.count("}]}")
    if whole == 0:
        with pytest.raises(ValueError, match="cut off"):
            whole_items(text, "statements")
    else:
        assert len(read(whole_items(text, "statements")).graph.statements) == min(whole, 3)


def lists(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for part in cast("list[Any]", schema) for found in lists(part)]
    if not isinstance(schema, dict):
        return []
    here = cast("dict[str, Any]", schema)
    return [here] * (here.get("type") == "array") + [found for part in here.values() for found in lists(part)]


SCHEMAS = {"statements": statements_schema(10), "merge": merge_schema(30)}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_every_list_is_bounded(schema: dict[str, Any]) -> None:
    assert all("maxItems" in found for found in lists(schema))


def test_the_schema_allows_what_the_example_of_the_prompt_writes_and_requires_every_part() -> None:
    schema = statements_schema(3)
    assert schema["required"] == ["statements", "relations", "order", "missing"]
    role = schema["properties"]["statements"]["items"]["properties"]["role"]
    assert role["enum"] == [r.value for r in StatementRole]
    assert json.loads(json.dumps(schema)) == schema
