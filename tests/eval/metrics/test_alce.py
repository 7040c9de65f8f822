"""QAMPARI's metrics against ALCE's ``compute_qampari_f1`` by hand."""

import pytest

from eval.metrics.alce import Qampari
from tests.eval.metrics.givens import given

SEVEN = tuple((f"place {i}", f"alias {i}") for i in range(7))


@pytest.mark.parametrize(
    ("answer", "precision", "recall", "recall5"),
    [
        ("Place 0, the alias 1, Nowhere, place 0.", 3 / 4, 2 / 7, 2 / 5),
        (", ".join(f"place {i}" for i in range(6)) + ",", 1.0, 6 / 7, 1.0),
        ("Nowhere", 0.0, 0.0, 0.0),
        (" , .", 0.0, 0.0, 0.0),
    ],
)
async def test_a_list_of_answers(answer: str, precision: float, recall: float, recall5: float) -> None:
    asked = given(answer, short_answers=SEVEN)
    both = precision + recall5
    expected = {
        "qampari_precision": precision,
        "qampari_recall": recall,
        "qampari_recall5": recall5,
        "qampari_f1_5": 2 * precision * recall5 / both if both else 0,
    }
    found = {name: await Qampari(name).score(asked) for name in expected}  # pyright: ignore[reportArgumentType]
    assert found == pytest.approx({name: 100 * value for name, value in expected.items()})
