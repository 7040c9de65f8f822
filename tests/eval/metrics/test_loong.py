"""Loong's judge-free scores against values computed by hand."""

from __future__ import annotations

import pytest

from eval.metrics.base import Given
from eval.metrics.loong import SpotlightHit, TitleF1
from eval.sample import Sample, SourceDocument


def spotlight(answer: str, gold: str, level: str = "1") -> Given:
    sample = Sample(id="q", query="?", references=(gold,), strata={"level": level})
    return Given(sample=sample, documents={}, answer=answer)


def papers(answer: str, gold: tuple[str, ...], titles: tuple[str, ...], query: str = "Which cite which?") -> Given:
    documents = {t: SourceDocument(id=t, title=t, text=f"# {t}\n\nText.") for t in titles}
    sample = Sample(id="q", query=query, documents=titles, titles=gold)
    return Given(sample=sample, documents=documents, answer=answer)


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("It was $17835 (in thousands).", "$17,835 in thousands", 100),
        ("It was 117,835.", "$17,835 in thousands", 0),
        ("It was 178,351.", "17,835", 0),
        ("公司为594964.290元。", "594,964.29", 100),
        ("公司为５９４，９６４.29元。", "594,964.29", 100),
        ("It fell by 435,022.", "-435,022.00", 100),
        ("Between 2019 and 2020: 5.", "5 in 2021", 0),
        ("Of 2021 it was 5.", "5 in 2021", 100),
        ("There are 14.", "4", 0),
        ("It is Arena Group Holdings Inc", "Arena Group Holdings, Inc.", 100),
        ("It is the Arenas.", "Arena", 0),
        ("答案是平安银行。", "平安银行", 100),
        ("答案是平安保险。", "平安银行", 0),
        ("", "17", 0),
    ],
)
async def test_spotlight_needs_every_number_of_the_gold_answer_or_its_words(
    answer: str, gold: str, score: float
) -> None:
    assert await SpotlightHit().score(spotlight(answer, gold)) == score


async def test_spotlight_applies_to_level_one_only() -> None:
    assert await SpotlightHit().score(spotlight("4", "4", level="2")) is None


TITLES = ("Whale Songs: A Survey", "Songs", "Deep Nets for the Deep Sea", "On Tides")


SURVEY, SONGS, DEEP, TIDES = TITLES


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        # named 2 (tides, whales), gold 2, shared 1: 2 * 1 / (2 + 2)
        ("I name **On tides**, Whale songs - a survey, Unknown Paper.", (SURVEY, DEEP), 50),
        # a title inside a longer one that is named is not named by that
        ("Whale Songs: A Survey", (SURVEY,), 100),
        ("Whale Songs: A Survey; Songs", (SURVEY,), 200 / 3),  # named 2, gold 1, shared 1
        ('["# Whale Songs: A Survey ", "# On Tides "]', (SURVEY, TIDES), 100),
        # the gold answer's shorter name means the same paper
        ("Whale songs: a survey", ("Whale Songs",), 100),
        ("Whale songs", ("Whale Songs",), 100),
        ("None of them. Tides turn.", (SONGS,), 0),
        ("Songs", (), None),
    ],
)
async def test_title_f1_compares_named_and_gold_papers(answer: str, gold: tuple[str, ...], score: float | None) -> None:
    assert await TitleF1().score(papers(answer, gold, TITLES)) == pytest.approx(score)


@pytest.mark.parametrize("gold", [(SONGS,), (SONGS, TIDES)])
async def test_paper_that_the_question_names_is_no_mistake_to_repeat(gold: tuple[str, ...]) -> None:
    assert await TitleF1().score(papers("On Tides cites: Songs", gold, TITLES, query="On Tides")) == 100
