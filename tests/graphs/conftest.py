"""The texts that most questions here are about."""

from pathlib import Path

import pytest

from tests.graphs.scripts import write_texts


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of three short texts on vitamin D."""
    return write_texts(tmp_path / "texts")
