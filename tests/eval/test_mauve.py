from pathlib import Path

import pytest

from eval.errors import MetricUnavailableError
from eval.reporting import mauve
from eval.reporting.mauve import mauve_of
from eval.running.record import Record
from eval.sample import Sample
from tests.training.tiny import tiny_model

SAMPLES = [
    Sample(id=str(i), query=f"Who won the cup {i}?", references=(f"Team {i} won it {i % 3} times.",)) for i in range(20)
]
COPIES = [Record(sample=s.id, system="copy", answer=s.references[0]) for s in SAMPLES]
OTHERS = [Record(sample=s.id, system="noise", answer="zzz " * (40 + i)) for i, s in enumerate(SAMPLES)]


@pytest.mark.deep
def test_copies_of_what_people_wrote_reach_100_and_other_texts_do_not(tmp_path: Path) -> None:
    pytest.importorskip("mauve")
    found = mauve_of(
        [*COPIES, *OTHERS], [*SAMPLES, Sample(id="x", query="no reference")], tiny_model(tmp_path / "gpt2")
    )
    assert found["copy"] == pytest.approx(100)
    assert found["noise"] < 60


def test_it_says_which_package_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mauve, "find_spec", dict[str, object]().get)
    with pytest.raises(MetricUnavailableError, match="mauve-text"):
        mauve_of(COPIES, SAMPLES, tmp_path)
