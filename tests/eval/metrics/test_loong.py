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


async def test_title_f1_compares_named_and_gold_papers() -> None:
    given = papers("I name **On tides**, Whale songs - a survey, Unknown Paper.", (TITLES[0], TITLES[2]), TITLES)
    # named 2 (tides, whales), gold 2, shared 1: 2 * 1 / (2 + 2)
    assert await TitleF1().score(given) == pytest.approx(50)


async def test_title_inside_a_longer_named_title_is_not_named() -> None:
    assert await TitleF1().score(papers("Whale Songs: A Survey", (TITLES[0],), TITLES)) == 100
    both = papers("Whale Songs: A Survey; Songs", (TITLES[0],), TITLES)
    assert await TitleF1().score(both) == pytest.approx(200 / 3)  # named 2, gold 1, shared 1


async def test_neighbouring_titles_are_both_named() -> None:
    given = papers('["# Whale Songs: A Survey ", "# On Tides "]', (TITLES[0], TITLES[3]), TITLES)
    assert await TitleF1().score(given) == 100


async def test_gold_answers_shorter_name_means_the_same_paper() -> None:
    assert await TitleF1().score(papers("Whale songs: a survey", ("Whale Songs",), TITLES)) == 100
    assert await TitleF1().score(papers("Whale songs", ("Whale Songs",), TITLES)) == 100


async def test_paper_that_the_question_names_is_no_mistake_to_repeat() -> None:
    given = papers("On Tides cites: Songs", ("Songs",), TITLES, query="On Tides")
    assert await TitleF1().score(given) == 100
    gold = papers("On Tides cites: Songs", ("Songs", "On Tides"), TITLES, query="On Tides")
    assert await TitleF1().score(gold) == 100


async def test_answer_that_names_no_title_scores_zero() -> None:
    assert await TitleF1().score(papers("None of them. Tides turn.", ("Songs",), TITLES)) == 0


async def test_title_f1_does_not_apply_without_gold_titles() -> None:
    assert await TitleF1().score(papers("Songs", (), TITLES)) is None
