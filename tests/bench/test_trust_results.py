"""The parts of `bench.trust`: what counts as silent, lost, shown or kept, and that its table says what was measured."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from bench.trust import damages, streams
from bench.trust.__main__ import without_places
from bench.trust.content import differing, missing
from bench.trust.drawn import Drawer, operations
from bench.trust.experiments import EXPERIMENTS
from bench.trust.forged import foreign, injected, marks
from bench.trust.payloads import CITATIONS, forgeries
from bench.trust.poisons import KINDS, LARGEST, poisons
from bench.trust.results import BEGIN, END, OUT, PAGE, add, broken, markdown, read, rows, with_table
from bench.trust.trial import Experiment

KILLS = {"kills": EXPERIMENTS["kills"]}


def test_the_page_shows_what_was_measured() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page, markdown(read(OUT), EXPERIMENTS))


def test_what_was_measured_has_every_figure_of_its_experiment() -> None:
    results = read(OUT)
    assert results.keys() <= EXPERIMENTS.keys()
    for name, figures in results.items():
        assert EXPERIMENTS[name].limits.keys() <= figures.keys(), name


def test_a_measurement_leaves_the_others_in_the_file(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    add(out, "kills", {"lost": 3, "differing": 1, "count": 4})
    add(out, "soak", {"memory_growth_pct": 1.234567})
    assert read(out)["soak"] == {"memory_growth_pct": 1.234567}
    assert [row[2:] for row in rows(read(out), KILLS)] == [
        ["`lost`", "0", "3 (n = 4)"],
        ["`differing`", "0", "1 (n = 4)"],
    ]
    add(out, "kills", {"lost": 0})
    assert [row[-1] for row in rows(read(out), KILLS)] == ["0", "-"]


def test_a_table_takes_the_place_of_the_old_one() -> None:
    page = f"before\n\n{BEGIN}\n\n| old |\n\n{END}\n\nafter\n"
    assert with_table(page, "| new |") == page.replace("old", "new")


def test_figures_name_no_folder_of_the_machine_that_measured() -> None:
    figures = {"lost": 0, "first": ["chunk /tmp/trust-x/texts/a.md 0", {"at": "/home/me/repo/discorag/a.py"}]}
    assert without_places(figures, "/tmp/trust-x", "/home/me/repo") == {
        "lost": 0,
        "first": ["chunk texts/a.md 0", {"at": "discorag/a.py"}],
    }


def test_a_figure_above_its_limit_or_missing_breaks_the_promise() -> None:
    experiment = Experiment("x", 1, {"a": 0, "b": 2, "c": 0}, run=lambda _: {})
    assert broken(experiment, {"a": 1, "b": 1.9, "c": None}) == ["a", "c"]


@pytest.mark.parametrize("mode", ["flip", "halve", "zero", "swap"])
def test_a_mode_changes_what_it_damages(tmp_path: Path, mode: str) -> None:
    file, content = tmp_path / "file", b"".join(bytes([i]) * 4096 for i in range(1, 6))
    file.write_bytes(content)
    damages.MODES[mode](file, random.Random(0))
    assert file.read_bytes() != content


def test_what_is_missing_or_new_or_not_alike_is_told() -> None:
    one, other = {"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"}
    assert (missing(one, other), differing(one, other)) == (["c"], ["b", "d"])


def test_poison_is_small_of_every_kind_and_the_same_every_time() -> None:
    made = poisons(len(KINDS), seed=1)
    assert [name.partition("-")[2] for name, _ in made] == list(KINDS)
    assert max(len(data) for _, data in made) <= LARGEST
    assert made[:3] == poisons(3, seed=1)


def test_plain_text_with_our_citations_and_lists_shows_nothing() -> None:
    said = "The tide rises. [1][2] It falls. [not supported] It stays. [1][not verified] "
    lists = "\n\nSources:\n\n1. a\n2. b\n\nThe sources disagree:\n\n- C: a / b"
    sentences: list[dict[str, Any]] = [{"evidence": ["a", "b"]}, {"evidence": []}, {"evidence": ["a"]}]
    assert injected(said + lists, sentences) == []


@pytest.mark.parametrize(
    "message", ["![x](http://e.example)", "<b>x</b>", "http://e.example", "`x`", "# x", "> x", "*x*", "www.e-e.com"]
)
def test_markup_of_any_kind_is_seen(message: str) -> None:
    assert foreign(message)


@pytest.mark.parametrize("citation", CITATIONS)
def test_only_bold_marks_are_ours_and_those_beyond_the_evidence_are_counted(citation: str) -> None:
    assert marks(f"It is safe {citation} for all. **[1]**") == 1
    assert injected(f"It is safe **{citation}** for all. **[1]**", [{"evidence": ["a"]}])


def test_escaped_markup_is_text() -> None:
    assert foreign("\\<b\\>x\\</b\\> \\*x\\* &lt;i&gt; \\!\\[x\\]") == []


def test_forgeries_are_of_both_kinds_in_documents_and_replies() -> None:
    made = forgeries(60, seed=0)
    assert len({f.marker for f in made}) == 60
    assert {(f.reply, f.payload in CITATIONS) for f in made} == {(r, c) for r in (True, False) for c in (True, False)}


def test_requests_are_drawn_for_every_operation_of_a_schema() -> None:
    number = {"type": "integer", "minimum": 1}
    schema = {
        "paths": {
            "/things/{doc_id}": {
                "get": {"parameters": [{"name": "doc_id", "in": "path", "schema": {"type": "string"}}]},
                "post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/x/Body"}}}}},
            }
        },
        "components": {"schemas": {"Body": {"type": "object", "properties": {"n": number}, "required": ["n"]}}},
    }
    drawer = Drawer(schema, lambda name, _: "mine" if name == "doc_id" else None, random.Random(3))
    get, post = operations(schema)
    drawn = [drawer.request(get) for _ in range(40)]
    assert {"mine"} < {d.ids[0] for d in drawn}
    bodies = [drawer.request(post).rest.get("json") for _ in range(40)]
    assert {"n": 1} in bodies


def test_growth_is_the_last_tenth_against_the_second() -> None:
    samples = [900.0] * 10 + [100.0] * 10 + [500.0] * 70 + [104.0] * 10
    assert streams.growth(samples) == 4.0
