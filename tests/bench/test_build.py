"""What the figures of building mean: exponents, sizes of texts, tokens of the scripted model."""

from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bench.build import BUILDERS, FITTED, chosen, exponent, plot, show
from bench.build_process import (
    SUMMARY_WORDS,
    ScriptedModel,
    llm_tokens,
    made,
    papers,
    prose,
    structured,
    tokens_in,
    words_in,
)
from bench.process import settings
from discorag.models.encoder import PackagedEncoder
from discorag.trees.registry import RETRIEVERS
from discorag.trees.summarise import ExtractiveSummariser, LlmSummariser
from discorag.types.errors import ConfigError, InputError
from eval.sample import SourceDocument
from nodes.resources import Resources
from prompts import load

FIXTURES = Path("tests/eval/fixtures")


@pytest.fixture
def _fixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCO_RAG_DATA", str(FIXTURES))


def source(text: str) -> SourceDocument:
    return SourceDocument(id=text[:1], title="", text=text)


@given(st.floats(0.5, 3), st.floats(0.001, 10))
def test_the_exponent_is_the_power_with_which_seconds_grow(power: float, factor: float) -> None:
    seconds = {n: factor * n**power for n in (10_000, 20_000, 80_000)}
    assert exponent(seconds) == pytest.approx(power, abs=1e-3)


def test_small_sizes_do_not_count_for_the_exponent() -> None:
    linear = {n: n / 1000 for n in (10_000, 20_000, 80_000)}
    assert exponent({1_000: 500.0, FITTED - 1: 500.0} | linear) == pytest.approx(1)


def test_there_is_no_exponent_of_a_single_size() -> None:
    assert exponent({1_000: 1.0, 10_000: 10.0}) is None


def test_every_builder_has_a_retriever_that_it_is_measured_with() -> None:
    assert {r.builder for r in RETRIEVERS.values()} == set(BUILDERS)


def test_builders_are_chosen_by_name() -> None:
    assert chosen([]) == list(BUILDERS)
    assert chosen(["windows", "flat-chunks"]) == ["flat-chunks", "windows"]
    with pytest.raises(ConfigError, match="forest"):
        chosen(["forest"])


@given(st.integers(1, 7))
def test_prose_has_exactly_as_many_words_as_asked(size: int) -> None:
    text = prose([source("a b c"), source("d e f g")], size, words_in, uri="/x.md").text
    assert text.split() == list("abcdefg")[:size]


def test_prose_that_would_be_too_short_is_refused() -> None:
    with pytest.raises(InputError, match="3 tokens or words, not 4"):
        prose([source("a b c")], 4, words_in, uri="/x.md")


@pytest.mark.usefixtures("_fixtures")
def test_prose_has_exactly_as_many_tokens_as_asked() -> None:
    tokens = tokens_in(PackagedEncoder().tokens)
    [first, *_] = papers()
    assert len(tokens(prose([first], 100, tokens, uri="/x.md").text)) == 100


async def test_a_scripted_summary_has_a_fixed_length_and_its_real_prompt_is_counted() -> None:
    counter = PackagedEncoder().tokens
    tokens, model = tokens_in(counter), ScriptedModel(counter)
    passage = " ".join(f"word{i}" for i in range(SUMMARY_WORDS + 50))
    made = await LlmSummariser(model, load("summary"), ExtractiveSummariser()).summarise([passage], words=120)
    assert made.text.split() == passage.split()[:SUMMARY_WORDS]
    assert made.usage.tokens_in == len(tokens(load("summary").render(texts=passage, words="120")))
    assert made.usage.tokens_out == len(tokens(made.text))


@pytest.mark.usefixtures("_fixtures")
async def test_only_builders_that_summarise_ask_the_language_model_and_longer_texts_cost_more(tmp_path: Path) -> None:
    asking = await llm_tokens(tmp_path / "a", "bisection", [150, 600])
    assert 0 < asking[150] < asking[600]
    assert await llm_tokens(tmp_path / "b", "flat-sentences", [150]) == {150: 0}


@pytest.mark.usefixtures("_fixtures")
async def test_a_measured_tree_is_built_and_stored(tmp_path: Path) -> None:
    text = prose([source("One is here. Two is there. Three is gone.")], 9, words_in, uri="/x.md")
    with Resources.open(settings(tmp_path, None)) as deps:
        tree = await made(deps, "bisection", text)
    assert tree.nodes == 5
    assert tree.seconds > 0
    assert tree.usage.calls == 0


@pytest.mark.usefixtures("_fixtures")
async def test_document_structure_trees_are_counted_by_the_second() -> None:
    assert await structured(documents=2, words=100) > 1


def test_the_table_and_the_figure_show_every_builder(tmp_path: Path) -> None:
    figures = {"exponent": None, "seconds_5000_words": 1.0, "peak_mb": 900, "seconds": {10: 0.5}}
    rows = {name: {**figures, "llm_tokens": {10: n}} for name, n in (("windows", 7), ("slide", 0))}
    written = StringIO()
    console = Console(file=written, width=200)
    show(rows, console)
    assert all(name in written.getvalue() for name in rows)
    plot(rows, tmp_path / "build.png")
    assert (tmp_path / "build.png").read_bytes().startswith(b"\x89PNG")
