"""What was fitted on one model refuses another."""

from __future__ import annotations

import pytest

from discorag.models.fitted import Fitted
from discorag.schema.errors import ConfigError


class Threshold(Fitted):
    value: float


def test_numbers_refuse_another_model_and_say_what_to_do() -> None:
    fitted = Threshold(fitted_on={"encoder": "minilm@1/256", "reranker": "marco@2"}, value=0.5)
    fitted.check(encoder="minilm@1/256", reranker="marco@2", nli="any")
    assert fitted.matches(encoder="minilm@1/256", reranker="marco@2")
    with pytest.raises(ConfigError, match=r"reranker marco@2; the configured one is bge@3.*DISCO_RAG_RERANKER__"):
        fitted.check(encoder="minilm@1/256", reranker="bge@3")
    with pytest.raises(ConfigError, match=r"none is configured.*DISCO_RAG_CALIBRATION"):
        fitted.check(encoder="minilm@1/256")
    assert Threshold.model_validate_json(fitted.model_dump_json()) == fitted
