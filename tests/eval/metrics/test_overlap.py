"""BLEU and METEOR against numbers by hand; WordNet's files are made up, in its own format."""

import os
from math import exp
from pathlib import Path

import pytest

from eval.errors import MetricUnavailableError
from eval.metrics.base import MetricModels
from eval.metrics.overlap import WORDNET, Bleu, Meteor
from eval.metrics.registry import build
from tests.eval.metrics.givens import given

DATA = "{offset:08d} 06 n 02 car 0 cab 0 000 | a machine  \n"


def wordnet(folder: Path) -> Path:
    """WordNet with one synset: car, cab."""
    folder.mkdir()
    for kind in ("noun", "verb", "adj", "adv"):
        for name in (f"data.{kind}", f"index.{kind}", f"{kind}.exc"):
            (folder / name).write_text("", encoding="utf-8")
    (folder / "data.noun").write_text(DATA.format(offset=0), encoding="utf-8")
    words = "".join(f"{word} n 1 0 1 0 00000000  \n" for word in ("cab", "car"))
    (folder / "index.noun").write_text(words, encoding="utf-8")
    (folder / "data.adj").write_text("  1 WordNet 3.0 Copyright\n", encoding="utf-8")
    return folder


async def test_bleu_of_one_answer_is_the_smoothed_mean_over_orders_with_its_brevity() -> None:
    sample = given("The monk sang.", references=("A monk sang loudly.", "Nobody."))
    # words: the monk sang / a monk sang loudly: 2 of 3 words, brevity exp(1 - 4 / 3)
    assert await Bleu("bleu1").score(sample) == pytest.approx(100 * exp(-1 / 3) * 2 / 3)
    # pairs: 1 of 2 (monk sang); triples: 0.1 of 1 by method 1; no fours: NLTK counts 0.1 of 1
    assert await Bleu("bleu4").score(sample) == pytest.approx(
        100 * exp(-1 / 3) * ((2 / 3) * (1 / 2) * 0.1 * 0.1) ** 0.25
    )


@pytest.mark.parametrize("metric", [Bleu("bleu1"), Bleu("bleu4")])
async def test_bleu_of_the_reference_is_100_and_of_nothing_0(metric: Bleu) -> None:
    text = "Otto was so young, and he knew it."
    assert await metric.score(given(text.upper(), references=(text,))) == pytest.approx(100)
    assert await metric.score(given("...", references=(text,))) == 0


async def test_meteor_counts_words_stems_and_synonyms(tmp_path: Path) -> None:
    meteor = Meteor(folder=wordnet(tmp_path / "wordnet"))
    sample = given("Cab stopping", references=("A car stopped!",))
    # two of two words match in one chunk, of three in the reference
    precision, recall = 1.0, 2 / 3
    fmean = precision * recall / (0.9 * precision + 0.1 * recall)
    assert await meteor.score(sample) == pytest.approx(100 * fmean * (1 - 0.5 * (1 / 2) ** 3))
    assert await meteor.score(given("", references=("x",))) == 0
    assert await meteor.score(given("x")) is None


def test_without_wordnet_meteor_is_missing_and_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    with pytest.raises(MetricUnavailableError, match="WordNet"):
        Meteor()
    made = build(["bleu1", "meteor"], MetricModels())
    assert [m.name for m in made.ready] == ["bleu1"]
    assert "wordnet-base" in made.missing["meteor"]


@pytest.mark.skipif(not (WORDNET / "data.noun").is_file(), reason="Debian's wordnet-base is not installed")
async def test_debians_files_are_read_as_they_are() -> None:
    os.environ.pop("WNSEARCHDIR", None)
    same = await Meteor().score(given("a motorcar", references=("a car",)))
    assert same is not None
    assert same > 40
