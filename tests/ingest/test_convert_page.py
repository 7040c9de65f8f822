"""What a page costs grows with its glyphs, whatever is drawn on it."""

from cProfile import Profile
from pstats import Stats
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdfplumber.table import cells_to_tables, edges_to_intersections, intersections_to_cells, merge_edges

from discorag.ingest.convert.page import Box, Glyph, Grid, page_text
from discorag.ingest.convert.ruled import Rule, grids
from discorag.ingest.convert.unwrap import joined_pages

COLUMNS = 3
WIDE, HIGH = 40.0, 12.0


def rules(count: int, length: float, step: float) -> list[Rule]:
    return [Rule(i * step, 0, length) for i in range(count + 1)]


def table(rows: int) -> Grid:
    [grid] = grids(
        rules(rows, COLUMNS * WIDE, HIGH), rules(COLUMNS, rows * HIGH, WIDE), height=rows * HIGH, glyphs=4 * rows
    )
    return grid


def glyph(char: str, left: float, bottom: float) -> Glyph:
    return Glyph(char, Box(left, bottom, left + 5, bottom + 8))


def filled(rows: int) -> list[Glyph]:
    """Three letters a cell, written down the columns."""
    return [
        glyph("abc"[i], c * WIDE + 2 + 6 * i, (rows - 1 - r) * HIGH + 2)
        for c in range(COLUMNS)
        for r in range(rows)
        for i in range(3)
    ]


def work(rows: int, glyphs: list[Glyph]) -> int:
    """Calls that it takes to find the table and to read the page: the same on every machine."""
    profile = Profile()
    profile.runcall(lambda: page_text(glyphs, [table(rows)]))
    return int(cast("Any", Stats(profile)).total_calls)


def test_every_letter_stands_in_its_cell() -> None:
    assert page_text(filled(3), [table(3)]).splitlines() == [
        "| abc | abc | abc |",
        "| --- | --- | --- |",
        "| abc | abc | abc |",
        "| abc | abc | abc |",
    ]


@pytest.mark.parametrize("inside", [True, False], ids=["in the cells", "beside the table"])
def test_ten_times_the_rows_take_ten_times_the_work(inside: bool) -> None:
    def page(rows: int) -> list[Glyph]:
        return filled(rows) if inside else [glyph("a", 500 + 6 * (i % 80), 9 * (i // 80)) for i in range(9 * rows)]

    spent = [work(rows, page(rows)) for rows in (10, 100, 1000)]
    assert spent[1] < 13 * spent[0]
    assert spent[2] < 13 * spent[1]


def test_a_drawing_of_many_rules_is_not_looked_through_for_tables() -> None:
    lattice = rules(900, 900, 1), rules(900, 900, 1)
    profile = Profile()
    assert profile.runcall(lambda: grids(*lattice, height=900, glyphs=11)) == []
    assert int(cast("Any", Stats(profile)).total_calls) < 100_000


def test_cells_that_span_rows_and_columns_belong_to_one_table() -> None:
    across = [Rule(0, 0, 30), Rule(10, 10, 30), Rule(20, 0, 30)]
    down = [Rule(0, 0, 20), Rule(10, 0, 20), Rule(20, 10, 20), Rule(30, 0, 20)]
    [grid] = grids(across, down, height=20, glyphs=5)
    tall, wide = Box(0, 0, 10, 20), Box(10, 10, 30, 20)
    assert grid == [[tall, wide, None], [None, Box(10, 0, 20, 10), Box(20, 0, 30, 10)]]


def test_tables_apart_are_told_apart_from_the_top() -> None:
    def square(left: float, top: float) -> tuple[list[Rule], list[Rule]]:
        across = [Rule(top + i * 10, left, left + 20) for i in range(3)]
        return across, [Rule(left + i * 10, top, top + 20) for i in range(3)]

    lower, upper = square(0, 50), square(40, 0)
    found = grids([*lower[0], *upper[0]], [*lower[1], *upper[1]], height=100, glyphs=5)
    assert [grid[0][0] for grid in found] == [Box(40, 90, 50, 100), Box(0, 40, 10, 50)]


lines = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(1, 5)).map(
        lambda t: Rule(t[0] * 9.0, t[1] * 9.0, 9.0 * min(5, t[1] + t[2]))
    ),
    min_size=2,
    max_size=14,
    unique=True,
)


@given(across=lines, down=lines)
def test_the_tables_are_those_that_pdfplumber_finds(across: list[Rule], down: list[Rule]) -> None:
    edges = [edge(rule, "h") for rule in across] + [edge(rule, "v") for rule in down]
    cells = intersections_to_cells(edges_to_intersections(merge_edges(edges, 3, 3, 3, 3), 3, 3))
    tables = [
        sorted(Box(x0, 100 - bottom, x1, 100 - top) for x0, top, x1, bottom in found)
        for found in cells_to_tables(cells)
    ]
    merged = merge_edges(edges, 3, 3, 3, 3)
    made = grids(
        [Rule(e["top"], e["x0"], e["x1"]) for e in merged if e["orientation"] == "h"],
        [Rule(e["x0"], e["top"], e["bottom"]) for e in merged if e["orientation"] == "v"],
        height=100,
        glyphs=100,
    )
    ours = [sorted(cell for row in grid for cell in row if cell) for grid in made]
    assert ours == [table for table in tables if could_be_table(table)]


def edge(rule: Rule, orientation: str) -> dict[str, Any]:
    at, along = ("top", "x0") if orientation == "h" else ("x0", "top")
    other, end = ("bottom", "x1") if orientation == "h" else ("x1", "bottom")
    return {
        "orientation": orientation,
        at: rule.at,
        other: rule.at,
        along: rule.start,
        end: rule.end,
        "width": rule.end - rule.start,
        "height": rule.end - rule.start,
    }


def could_be_table(cells: list[Box]) -> bool:
    rows, columns = {cell.top for cell in cells}, {cell.left for cell in cells}
    return len(rows) > 1 and len(columns) > 1 and len(rows) * len(columns) <= 2 * len(cells)


def test_a_word_without_an_end_is_joined_in_linear_time() -> None:
    long = "x" * 200_000
    text, _ = joined_pages([f"{long} ob\x02servatory well-known \x02 pre\x02War well\x02known"])
    assert text == f"{long} observatory well-known - pre-War well-known"
