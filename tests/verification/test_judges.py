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

TIDES, BEES = Place((0,), "Tides rise twice a day."), Place((1,), "Bees dance for 12 minutes.")
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


def reply(*verdicts: tuple[int, int]) -> str:
    """Passage and confidence of each sentence."""
    told = [{"sentence": n, "passage": p, "confidence": c} for n, (p, c) in enumerate(verdicts, start=1)]
    return json.dumps({"verdicts": told})


async def test_one_call_judges_all_sentences_and_each_passage_is_shown_once() -> None:
    says = Says(reply((1, 90), (0, 20)))
    first, second = (await judge(says).judge([TIDE, DANCE])).value
    assert (first.support, first.place, first.probability) == (Support.SUPPORTED, 0, 0.9)
    assert second.support is Support.NOT_SUPPORTED
    [asked] = says.asked
    assert asked.messages[0].content.count(BEES.text) == 1
    assert asked.schema is not None


async def test_a_figure_that_the_passage_lacks_or_a_passage_of_another_sentence_supports_nothing() -> None:
    _, dance = (await judge(Says(reply((1, 90), (2, 100)))).judge([TIDE, DANCE])).value
    assert (dance.support, "20 minutes" in dance.reason) == (Support.NOT_SUPPORTED, True)
    _, dance = (await judge(Says(reply((1, 90), (1, 90)))).judge([TIDE, DANCE])).value
    assert dance.support is Support.NOT_SUPPORTED


@pytest.mark.parametrize(
    "bad", [reply((1, 90)), reply((1, 90), (3, 90)), "no JSON"], ids=["a sentence left out", "no such passage", "prose"]
)
async def test_what_breaks_the_form_is_asked_for_again_and_then_fails(bad: str) -> None:
    good = reply((1, 90), (0, 10))
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
    assert (tide.support, tide.place, tide.probability) == (Support.SUPPORTED, 0, 0.75)
    assert (dance.support, "20 minutes" in dance.reason) == (Support.NOT_SUPPORTED, True)


def test_without_an_nli_model_nothing_is_judged() -> None:
    tools: Any = SimpleNamespace(settings=Settings(), encoder=None, reranker=None)
    assert verifier_of(tools, "auto").judge is None
