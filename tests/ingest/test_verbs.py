"""Which texts may be sentences by their verbs."""

import pytest

from discorag.ingest.segment.reading import has_verb


@pytest.mark.parametrize(
    "text", ["The miller mends the wheel.", "Mend the wheel in spring.", "I think so.", "Was it mended?", "水车转动。"]
)
def test_sentences_have_a_finite_verb(text: str) -> None:
    assert has_verb(text)


@pytest.mark.parametrize(
    "text", ["Wheel of the mill.", "Repairs and costs of wheels", "(in thousands, but for mills)", "5."]
)
def test_headings_labels_and_loose_ends_have_none(text: str) -> None:
    assert not has_verb(text)
