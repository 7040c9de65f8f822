import pytest

from discorag.conflicts.claims.effects import Direction, claim_of


@pytest.mark.parametrize(
    ("sentence", "direction"),
    [
        ("Daily vitamin D lowered the incidence of influenza by 12 %.", Direction.DOWN),
        ("Supplements had no significant effect on the incidence of influenza.", Direction.NONE),
        ("The evidence does not show that vitamin D prevents influenza.", Direction.NONE),
        ("The later start raised average attendance.", Direction.UP),
        ("Attendance was unchanged.", Direction.NONE),
        ("Does vitamin D prevent influenza?", None),
        ("Vitamin D might prevent influenza.", None),
        ("A slow cycle raises and lowers the range.", None),
        ("Vitamin D is a compound.", None),
        ("服用维生素D没有降低流感的发病率。", Direction.NONE),
        ("服用维生素D降低了流感的发病率。", Direction.DOWN),
    ],
)
def test_a_sentence_claims_a_direction_only_when_it_states_one(sentence: str, direction: Direction | None) -> None:
    claim = claim_of(sentence)
    assert (claim.direction if claim else None) is direction
