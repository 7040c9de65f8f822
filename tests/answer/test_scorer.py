"""Which unit answers."""

from dataclasses import replace

import numpy as np
import pytest

from discorag.answer.features import GROUPS, NAMES, features
from discorag.answer.question import typed
from discorag.answer.scorer import model, scores
from discorag.claims.units import UnitTable, units_of
from discorag.models.protocol import Encoder
from tests.cases import case_from, case_of, with_graph

TIDES = "# Tides\n\nThe harbour has a fine view. The moon pulls the sea, so tides rise. Boats are sold in spring."


async def test_the_sentence_that_says_what_is_asked_comes_first(encoder: Encoder) -> None:
    case = await case_from({"tides.md": TIDES}, "Why do tides rise?", encoder)
    table = await units_of(case, encoder)
    told = scores(case, table, await encoder.encode_query(case.query))
    assert "moon" in table.units[int(told.argmax())].text
    assert ((told > 0) & (told < 1)).all()


async def test_a_misspelt_question_still_finds_it(encoder: Encoder) -> None:
    case = await case_from({"tides.md": TIDES}, "Why do tdies rise?", encoder)
    table = await units_of(case, encoder)
    assert "moon" in table.units[int(scores(case, table, await encoder.encode_query(case.query)).argmax())].text


async def test_every_feature_has_a_number_with_and_without_trees_and_graph(encoder: Encoder) -> None:
    case = await with_graph(await case_of("vitamin-d", "Does vitamin D prevent flu?", encoder), encoder)
    bare = replace(case, graph=None, chunks=tuple(c.model_copy(update={"tree": None}) for c in case.chunks))
    structure = [NAMES.index(name) for group in ("tree", "graph") for name in GROUPS[group]]
    for each, has_structure in ((case, True), (bare, False)):
        table = await units_of(each, encoder)
        rows = features(each, table, await encoder.encode_query(each.query))
        assert rows.shape == (len(table.units), len(NAMES))
        assert np.isfinite(rows).all()
        assert bool(rows[:, structure].any()) is has_structure


async def test_the_weights_are_of_these_features(encoder: Encoder) -> None:
    assert model().names == NAMES


async def test_no_units_have_no_scores(encoder: Encoder) -> None:
    case = await case_from({"tides.md": TIDES}, "Why?", encoder)
    empty = UnitTable((), np.zeros((0, encoder.dimension), np.float32))
    assert scores(case, empty, await encoder.encode_query("Why?")).shape == (0,)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did it erupt?", "when"),
        ("In which year was it founded?", "when"),
        ("How many tides are there?", "number"),
        ("How do I install it?", "how"),
        ("Is the tide high?", "whether"),
        ("The dose?", "what"),
        ("为什么有潮汐？", "why"),
        ("潮汐是否有规律？", "whether"),
    ],
)
def test_what_a_question_asks_for(question: str, kind: str) -> None:
    assert typed(question) == kind
