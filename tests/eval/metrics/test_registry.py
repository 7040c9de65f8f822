from pathlib import Path

import pytest

from discorag.schema.errors import ConfigError
from eval.metrics.base import Metric, MetricModels
from eval.metrics.registry import BUDGETED, PLAIN, build
from tests.eval.metrics.givens import given
from tests.models.helpers import gateway
from tests.servers.scripted import ScriptedServer

NAMES = [*PLAIN, *(f"{stem}@37" for stem in BUDGETED)]
SCORES = [name for name in NAMES if name not in {"answer_words", "evidence_words"}]
"""All but those that only count, and so need nothing to compare with."""


def test_every_metric_goes_by_the_name_under_which_it_is_asked_for() -> None:
    assert [m.name for m in build(NAMES, MetricModels()).ready] == NAMES


@pytest.mark.parametrize("metric", build(SCORES, MetricModels()).ready, ids=lambda metric: metric.name)
async def test_a_question_without_anything_to_score_against_is_not_scored(metric: Metric) -> None:
    assert await metric.score(given("(a)")) is None


@pytest.mark.parametrize(
    "name", ["bleu", "rouge", "gold_hit", "gold_hit@", "gold_hit@0", "gold_hit@-3", "gold_hit@x", "str_em@300", "@5"]
)
def test_an_unknown_metric_or_one_without_a_budget_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"no metric '{name}'.*str_em, .*gold_hit@N"):
        build(["str_em", name], MetricModels())


def test_metrics_without_their_model_are_missing_with_the_reason_and_the_others_are_ready() -> None:
    wanted = ["judge_score", "str_em", "disambig_f1", "bertscore", "summac_zs"]
    made = build(wanted, MetricModels())
    assert [m.name for m in made.ready] == ["str_em"]
    assert set(made.missing) == set(wanted) - {"str_em"}
    assert "--judge" in made.missing["judge_score"]
    assert "--reader" in made.missing["disambig_f1"]
    assert "--bertscore" in made.missing["bertscore"]
    assert "--summac" in made.missing["summac_zs"]
    assert made.note == ""


def test_scores_under_our_own_judge_prompt_are_said_not_to_be_comparable(tmp_path: Path) -> None:
    official = tmp_path / "prompt.txt"
    official.write_text("{question} {gold} {answer}", encoding="utf-8")
    with ScriptedServer() as server:
        assert "not comparable" in build(["judge_score"], MetricModels(judge=gateway(server))).note
        assert build(["judge_score"], MetricModels(judge=gateway(server), judge_prompt=official)).note == ""
