"""The engines that ask a model: what they send and believe."""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from langchain_core.messages import AIMessage

import prompts
from discorag.config import LlmSettings, Settings
from discorag.models.chat import Draft
from discorag.models.gateway import Gateway
from discorag.models.nli import NliModel, Probabilities
from discorag.models.protocol import Request
from discorag.schema.answer import Support
from discorag.schema.errors import ModelError
from discorag.verification.claims import Claim, Place
from discorag.verification.judges import LlmJudge, NliJudge, verifier_of

TIDES, BEES = Place((0,), "Tides rise twice a day.", "The sea"), Place((1,), "Bees dance for 12 minutes.")
TIDE = Claim("The tide rises twice a day.", (TIDES, BEES))
DANCE = Claim("Bees dance for 20 minutes.", (BEES,))


class Says:
    """A model that says these texts in turn, and keeps what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.asked = list(replies), list[Request[Any]]()

    async def context_tokens(self) -> int:
        return 32_768

    async def send(self, request: Request[Any]) -> Draft:
        self.asked.append(request)
        draft = Draft(finish_reason="stop")
        draft.add(AIMessage(self.replies.pop(0)))
        return draft


def judge(says: Says) -> LlmJudge:
    return LlmJudge(Gateway(LlmSettings(model="scripted", cache=None), chat=cast("Any", says)), prompts.load("support"))


def reply(*verdicts: tuple[str, list[int]]) -> str:
    """Verdict and passages of each sentence."""
    found = [{"sentence": n, "verdict": v, "passages": p} for n, (v, p) in enumerate(verdicts, start=1)]
    return json.dumps({"verdicts": found})


YES, NO = ("supported", [1]), ("not stated", list[int]())


async def test_one_call_judges_all_sentences_and_each_passage_is_shown_once_with_its_title() -> None:
    says = Says(reply(YES, NO))
    first, second = (await judge(says).judge([TIDE, DANCE])).value
    assert (first.support, first.places) == (Support.SUPPORTED, (TIDES,))
    assert (second.support, second.places) == (Support.NOT_SUPPORTED, ())
    [asked] = says.asked
    assert asked.messages[0].content.count(BEES.text) == 1
    assert "1. (The sea) Tides rise" in asked.messages[0].content
    assert asked.schema is not None


async def test_a_sentence_that_a_passage_contradicts_shows_that_passage() -> None:
    _, dance = (await judge(Says(reply(YES, ("contradicted", [2])))).judge([TIDE, DANCE])).value
    assert (dance.support, dance.places, "otherwise" in dance.reason) == (Support.NOT_SUPPORTED, (BEES,), True)


async def test_passages_may_support_a_sentence_together() -> None:
    both = Claim("Tides rise twice a day, and bees dance for 12 minutes.", (TIDES, BEES))
    [found] = (await judge(Says(reply(("supported", [1, 2])))).judge([both])).value
    assert (found.support, found.places) == (Support.SUPPORTED, (TIDES, BEES))
    [found] = (await judge(Says(reply(YES))).judge([both])).value
    assert (found.support, "12 minutes" in found.reason) == (Support.NOT_SUPPORTED, True)


async def test_the_closest_sentence_of_a_passage_is_shown_unless_its_neighbours_are_needed() -> None:
    around = Place((1, 2), "Bees dance for 12 minutes. They do so at noon.")
    places = (BEES, around)
    for sentence, shown in (("For 12 minutes bees dance.", BEES), ('For 12 minutes, and "at noon".', around)):
        says = Says(reply(YES))
        [found] = (await judge(says).judge([Claim(sentence, places)])).value
        assert (found.support, found.places) == (Support.SUPPORTED, (shown,))
        assert says.asked[0].messages[0].content.count(BEES.text) == 1


async def test_a_figure_that_the_passages_lack_supports_nothing() -> None:
    _, dance = (await judge(Says(reply(YES, ("supported", [2])))).judge([TIDE, DANCE])).value
    assert (dance.support, "20 minutes" in dance.reason) == (Support.NOT_SUPPORTED, True)


async def test_a_name_of_the_question_needs_no_source() -> None:
    claim = Claim("The hive of Mara Lind dances.", (BEES,), question="Does the hive of Mara Lind dance?")
    [found] = (await judge(Says(reply(YES))).judge([claim])).value
    assert found.support is Support.SUPPORTED


@pytest.mark.parametrize(
    "bad",
    [reply(YES), reply(YES, ("supported", [3])), reply(YES, ("contradicted", [])), "no JSON"],
    ids=["a sentence left out", "no such passage", "no passage named", "prose"],
)
async def test_what_breaks_the_form_is_asked_for_again_and_then_fails(bad: str) -> None:
    good = reply(YES, NO)
    found = (await judge(Says(bad, good)).judge([TIDE, DANCE])).value
    assert [v.support for v in found] == [Support.SUPPORTED, Support.NOT_SUPPORTED]
    with pytest.raises(ModelError):
        await judge(Says(bad, bad)).judge([TIDE, DANCE])


class Table(NliModel):
    """Entailment by a table of hypotheses and premises."""

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        known = {("Tide", "The "), ("Bees", "Bees")}
        likely = [0.75 if (premise[:4], hypothesis[:4]) in known else 0.25 for premise, hypothesis in pairs]
        return np.array([(p, 1 - p, 0) for p in likely], np.float32)


async def test_the_place_that_entails_a_sentence_supports_it_if_it_has_its_figures() -> None:
    tide, dance = (await NliJudge(Table("table")).judge([TIDE, DANCE])).value
    assert (tide.support, tide.places, tide.probability) == (Support.SUPPORTED, (TIDES,), 0.75)
    assert (dance.support, "20 minutes" in dance.reason) == (Support.NOT_SUPPORTED, True)


def test_without_an_nli_model_nothing_is_judged() -> None:
    tools: Any = SimpleNamespace(settings=Settings(), encoder=None, reranker=None)
    assert verifier_of(tools, "auto").judge is None
