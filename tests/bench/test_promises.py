"""The parts of `bench.trust` and `bench.scale`: what counts as lost, and that their tables say what was measured."""

import random
from pathlib import Path
from typing import cast

import pytest

from bench.promises import Experiment, add, measure, read, with_table
from bench.scale import __main__ as scale
from bench.trust import __main__ as trust
from bench.trust import damages, soak
from bench.trust.content import differing, missing
from bench.trust.poisons import KINDS, LARGEST, poisons
from tests.servers.postgres import PostgresServer

KILLS = Experiment("killed", 4, {"lost": 0, "differing": 0, "compared": None}, run=lambda trial: {"lost": trial.count})


@pytest.mark.parametrize(
    ("experiments", "results", "page"),
    [
        (trust.EXPERIMENTS, trust.RESULTS, trust.PAGE),
        (scale.experiments(cast("PostgresServer", None), str), scale.RESULTS, scale.PAGE),
    ],
    ids=["trust", "scale"],
)
def test_the_page_shows_what_was_measured_and_of_which_commit(
    experiments: dict[str, Experiment], results: Path, page: Path
) -> None:
    text, found = page.read_text(encoding="utf-8"), read(results)
    assert text == with_table(text, results, found, experiments)
    assert found.keys() <= experiments.keys()
    for name, figures in found.items():
        assert experiments[name].limits.keys() <= figures.keys(), name
        assert figures["commit"], name


def test_a_measurement_leaves_the_others_in_the_file_and_takes_the_place_of_its_row(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    add(out, "kills", {"lost": 3, "differing": 1, "count": 4})
    found = add(out, "soak", {"memory_growth_pct": 1.234567})
    assert found == read(out)
    page = with_table(
        "before\n\n<!-- results.json -->\n\n| old |\n\n<!-- end -->\nafter\n", out, found, {"kills": KILLS}
    )
    assert page.startswith("before\n")
    assert page.endswith("\nafter\n")
    assert "old" not in page
    assert "| `kills` | killed | `lost` | 0 | 3 (n = 4) |" in page
    assert "|  |  | `compared` | - | - |" in page
    assert with_table(page, out, found, {"kills": KILLS}) == page


def test_a_figure_above_its_limit_or_missing_breaks_the_promise() -> None:
    figures = measure(KILLS, 2, lambda: None)
    assert (figures["lost"], figures["count"]) == (2, 2)
    assert KILLS.broken(figures) == ["lost", "differing"]
    assert KILLS.broken({"lost": 0, "differing": 0.0}) == []


@pytest.mark.parametrize("mode", ["flip", "halve", "zero", "swap"])
def test_a_mode_changes_what_it_damages(tmp_path: Path, mode: str) -> None:
    file, content = tmp_path / "file", b"".join(bytes([i]) * 4096 for i in range(1, 6))
    file.write_bytes(content)
    damages.MODES[mode](file, random.Random(0))
    assert file.read_bytes() != content


def test_what_is_missing_new_or_not_alike_is_found_and_growth_is_the_last_tenth_against_the_second() -> None:
    one, other = {"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"}
    assert (missing(one, other), differing(one, other)) == (["c"], ["b", "d"])
    samples = [900.0] * 10 + [100.0] * 10 + [500.0] * 70 + [104.0] * 10
    assert soak.growth(samples) == 4.0


def test_poison_is_small_of_every_kind_and_the_same_every_time() -> None:
    made = poisons(len(KINDS), seed=1)
    assert [name.partition("-")[2] for name, _ in made] == list(KINDS)
    assert max(len(data) for _, data in made) <= LARGEST
    assert made[:3] == poisons(3, seed=1)
