"""The texts that most questions here are about, and pipelines that have read them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from discorag import DiscoRAG
from tests.conftest import Pipelines
from tests.graphs.paper_scripts import Run, ask_over
from tests.graphs.scripts import open_over, write_texts

Opened = Callable[..., DiscoRAG]
Ask = Callable[..., Run]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of three short texts on vitamin D."""
    return write_texts(tmp_path / "texts")


@pytest.fixture
def opened(pipeline: Pipelines, texts: Path) -> Opened:
    """Opens a pipeline with the language model of a server, which has read the texts."""
    return partial(open_over, pipeline, texts)


@pytest.fixture
def ask(pipeline: Pipelines, texts: Path) -> Ask:
    """`ask_over` these texts."""
    return partial(ask_over, pipeline, texts)
