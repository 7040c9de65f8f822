"""The engines that ask a model: what they send, what they believe, and what they check themselves."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import prompts
from discorag.models.chat import Draft
from discorag.models.gateway import Gateway
from discorag.models.protocol import Request
from discorag.settings import LlmSettings, NliSettings
from discorag.types.errors import ConfigError, InvalidOutputError, ModelError
from discorag.verification.judge import Claim, Place, Verdict
from discorag.verification.llm import LlmJudge
from discorag.verification.nli import LocalEntailment, NliJudge, ServedEntailment, entailment_from, is_entailment
from tests.models.test_reranker import cross_encoder, failing, served

TIDES, BEES = Place((0,), "Tides rise twice a day."), Place((1,), "Bees dance for 12 minutes.")
TIDE = Claim("The tide rises twice a day.", (TIDES, BEES))
DANCE = Claim("Bees dance for 20 minutes.", (BEES,))


class Says:
    """A model that says these texts in turn, and keeps what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.asked = list(replies), list[Request[Any]]()

    async def send(self, request: Request[Any]) -> Draft:
        self.asked.append(request)
        return Draft(text=self.replies.pop(0), finish_reason="stop")


def judge(says: Says) -> LlmJudge:
    return LlmJudge(Gateway(LlmSettings(model="scripted", cache=None), chat=cast("Any", says)), prompts.load("support"))


def reply(*verdicts: tuple[int, int]) -> str:
    """Passage and confidence of each sentence."""
    told = [{"sentence": n, "passage": p, "confidence": c} for n, (p, c) in enumerate(verdicts, start=1)]
    return json.dumps({"verdicts": told})


async def test_one_call_judges_all_sentences_and_each_passage_is_shown_once() -> None:
    says = Says(reply((1, 90), (0, 20)))
    first, second = await judge(says).judge([TIDE, DANCE])
    assert (first, second.supported) == (Verdict((0,), 0.9), False)
    [asked] = says.asked
    assert asked.messages[0].content.count(BEES.text) == 1
    assert asked.schema is not None


async def test_without_sentences_nothing_is_asked() -> None:
    says = Says()
    assert await judge(says).judge([]) == []
    assert says.asked == []


async def test_a_figure_that_the_passage_lacks_is_not_supported_whatever_the_model_says() -> None:
    _, dance = await judge(Says(reply((1, 90), (2, 100)))).judge([TIDE, DANCE])
    assert (dance.supported, "20 minutes" in dance.reason) == (False, True)


async def test_a_quotation_that_the_passage_lacks_is_not_supported_whatever_the_model_says() -> None:
    claim = Claim('Tides "come and go" twice a day.', (TIDES,))
    [verdict] = await judge(Says(reply((1, 100)))).judge([claim])
    assert (verdict.supported, "come and go" in verdict.reason) == (False, True)


async def test_a_passage_that_was_offered_for_another_sentence_only_supports_nothing() -> None:
    _, dance = await judge(Says(reply((1, 90), (1, 90)))).judge([TIDE, DANCE])
    assert not dance.supported


@pytest.mark.parametrize(
    "bad", [reply((1, 90)), reply((1, 90), (3, 90)), "no JSON"], ids=["a sentence left out", "no such passage", "prose"]
)
async def test_what_breaks_the_form_is_asked_for_again_and_then_fails(bad: str) -> None:
    good = reply((1, 90), (0, 10))
    found = await judge(Says(bad, good)).judge([TIDE, DANCE])
    assert [v.supported for v in found] == [True, False]
    with pytest.raises(ModelError):
        await judge(Says(bad, bad)).judge([TIDE, DANCE])


async def test_what_the_call_cost_and_its_prompt_are_known() -> None:
    made = judge(Says(reply((1, 90))))
    await made.judge([TIDE])
    assert (made.usage.calls, made.prompt_hash) == (1, prompts.load("support").hash)


class Table:
    """Entailment by a table of hypotheses and premises."""

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [
            0.9 if (premise[:4], hypothesis[:4]) in {("Tide", "The "), ("Bees", "Bees")} else 0.1
            for premise, hypothesis in pairs
        ]


async def test_the_place_that_entails_a_sentence_supports_it_if_it_has_its_figures() -> None:
    tide, dance = await NliJudge(Table()).judge([TIDE, DANCE])
    assert tide == Verdict((0,), 0.9)
    assert (dance.supported, "20 minutes" in dance.reason) == (False, True)


async def test_below_the_threshold_nothing_is_entailed() -> None:
    [verdict] = await NliJudge(Table(), threshold=0.95).judge([TIDE])
    assert (verdict.supported, verdict.probability) == (False, 0.9)


async def test_a_served_model_is_asked_for_pairs_in_batches() -> None:
    with served(
        lambda body: [[{"label": "ENTAILMENT", "score": 0.7}, {"label": "NEUTRAL", "score": 0.3}]] * len(body["inputs"])
    ) as seen:
        model = ServedEntailment(NliSettings(base_url=seen.url, batch_size=2))
        assert await model.probabilities([("a", "b"), ("c", "d"), ("e", "f")]) == [0.7, 0.7, 0.7]
    assert seen.paths == ["predict"] * 2
    assert [body["inputs"] for body in seen.bodies] == [[["a", "b"], ["c", "d"]], [["e", "f"]]]


@pytest.mark.parametrize(
    "answer",
    [[[{"label": "LABEL_0", "score": 0.7}]], [], {"error": "no"}],
    ids=["no entailment", "no pairs", "no list"],
)
async def test_a_server_without_labels_of_entailment_fails(answer: Any) -> None:
    with served(lambda _: answer) as seen, pytest.raises(InvalidOutputError, match="entailment"):
        await ServedEntailment(NliSettings(base_url=seen.url)).probabilities([("a", "b")])


async def test_a_server_that_refuses_fails_as_a_model_does() -> None:
    with served(failing(422)) as seen, pytest.raises(ModelError):
        await ServedEntailment(NliSettings(base_url=seen.url, retries=0)).probabilities([("a", "b")])


async def test_a_folder_without_a_label_of_entailment_is_refused_and_one_output_is_a_probability(
    tmp_path: Path,
) -> None:
    two = LocalEntailment(os.fspath(cross_encoder(tmp_path / "two", labels=2)))
    with pytest.raises(ConfigError, match="none of which says entailment"):
        await two.probabilities([("a", "b")])
    one = LocalEntailment(os.fspath(cross_encoder(tmp_path / "one", labels=1, bias=30.0)))
    assert await one.probabilities([("a", "b")]) == [pytest.approx(1.0)]


def test_without_a_model_or_an_endpoint_there_is_none() -> None:
    with pytest.raises(ConfigError, match="none is named"):
        entailment_from(NliSettings())


def test_not_entailment_is_no_entailment() -> None:
    assert [is_entailment(x) for x in ("entailment", "ENTAILMENT", "not_entailment", "neutral")] == [
        True,
        True,
        False,
        False,
    ]


def test_one_model_of_inference_serves_all_questions() -> None:
    settings = NliSettings(base_url="http://localhost:1")
    assert entailment_from(settings) is entailment_from(NliSettings(base_url="http://localhost:1"))
    assert entailment_from(settings) is not entailment_from(NliSettings(base_url="http://localhost:2"))
