"""Which questions a short run of the retrieval benchmark asks."""

import pytest

from bench.retrieval.questions import HALVES, Case
from bench.retrieval.run import grouped, main, named_rows, sampled
from discorag.types.errors import ConfigError
from tests.bench.retrieval.helpers import case, document, gold, place


def _cases() -> list[Case]:
    """Four questions about each of ten documents; every other document is held out."""
    return [
        _about(f"d{d}").model_copy(update={"id": f"q{d}.{q}", "half": HALVES[d % 2]})
        for d in range(10)
        for q in range(4)
    ]


def _about(doc: str) -> Case:
    one = document("Why not?", doc)
    return case([one], [gold(place(one.text, "not", doc))])


def _documents(chosen: list[Case], half: str) -> set[str]:
    return {c.documents[0].id for c in chosen if c.half == half}


def test_a_limit_of_questions_holds_in_each_half() -> None:
    chosen = sampled(_cases(), limit=3, pools=1000)
    assert [sum(c.half == half for c in chosen) for half in HALVES] == [3, 3]


def test_a_limit_of_pools_keeps_every_question_about_those_documents() -> None:
    chosen = sampled(_cases(), limit=1000, pools=2)
    assert [len(_documents(chosen, half)) for half in HALVES] == [2, 2]
    assert all(len(group) == 4 for group in grouped(chosen))


def test_the_choice_does_not_hang_on_the_order_of_the_questions() -> None:
    cases = _cases()
    assert sampled(cases, limit=5, pools=2) == sampled(cases[::-1], limit=5, pools=2)


def test_rows_that_are_named_come_with_what_they_are_compared_to() -> None:
    assert named_rows("qmsum", "slide_16", "random", slow=False) == ["flat_sentence", "slide_16", "random"]


def test_a_row_that_there_is_not_is_an_error_before_anything_is_measured() -> None:
    with pytest.raises(ConfigError, match="slide_5"):
        named_rows("qmsum", "slide_5", "flat_sentence", slow=False)


def test_slow_rows_come_when_asked_for_and_summaries_only_where_documents_are_long() -> None:
    quick, slow = (named_rows("hotpotqa", "", "flat_sentence", slow=s) for s in (False, True))
    assert set(slow) - set(quick) >= {"discourse_concat", "discourse_summaries"}
    assert "raptor" not in slow
    assert "raptor" in named_rows("qmsum", "", "flat_sentence", slow=False)


def test_gains_from_another_row_do_not_overwrite_the_result_file() -> None:
    with pytest.raises(ConfigError, match="flat_sentence"):
        main(datasets="qmsum", against="slide_16")
