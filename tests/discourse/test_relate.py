"""The words with which a chunk says what it is to the chunk before it."""

import pytest

from discorag.discourse.relate import opening_relation
from discorag.schema.discourse import ChunkRelation


@pytest.mark.parametrize(
    ("sentence", "relation"),
    [
        ("“And e.g. the sea rises.", ChunkRelation.EXEMPLIFIES),
        ("Eggs are laid in May.", None),
        ("However, it rusts.", ChunkRelation.COMPARES_WITH),
        ("Butter melts.", None),
        ("因此他湿了。", ChunkRelation.RESULTS_FROM),
    ],
)
def test_a_chunk_states_its_relation_by_the_words_that_it_opens_with(
    sentence: str, relation: ChunkRelation | None
) -> None:
    assert opening_relation(sentence) is relation
