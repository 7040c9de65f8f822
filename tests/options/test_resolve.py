"""What `resolve` makes of given options: a table of values, where they come from, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from discorag.options import AnswerOptions, resolve, without_model
from discorag.schema.errors import ConfigError, DiscoRagError, InputError

Json = dict[str, Any]
CASES: list[Json] = [json.loads(line) for line in Path(__file__).with_name("expected.jsonl").open(encoding="utf-8")]
"""``expected``: values that differ from the defaults; null: refused."""
ANSWERED = [case for case in CASES if case["has_model"] and case["expected"] and "rdr2" not in case["given"].values()]
ALONE = {json.dumps([c["given"], c["settings"]]): c["expected"] for c in CASES if not c["has_model"]}
"""What the same options become without a language model."""


def differing(options: AnswerOptions) -> Json:
    """The options that are not the defaults."""
    return {name: value for name, value in options if value != AnswerOptions.model_fields[name].default}


@pytest.mark.parametrize("case", CASES, ids=lambda case: json.dumps({k: v for k, v in case.items() if k != "expected"}))
def test_every_choice_has_the_values_of_the_table(case: Json) -> None:
    given, settings, has_model = case["given"], case["settings"], case["has_model"]
    if case["expected"] is None:
        with pytest.raises(DiscoRagError):
            resolve(given, settings, has_model=has_model)
        return
    resolved = resolve(given, settings, has_model=has_model)
    assert differing(resolved.options) == case["expected"]
    assert resolved.origins.keys() == AnswerOptions.model_fields.keys()
    assert all(resolved.origins[name] in {"given", "settings"} for name in given)
    unchanged = {name for name, origin in resolved.origins.items() if origin == "default"}
    assert not unchanged & case["expected"].keys()


# --- where values come from -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "settings", "has_model", "origins"),
    [
        ({}, {}, True, {"preset": "a language model is configured", "retriever": "preset written", "top_k": "default"}),
        ({}, {}, False, {"preset": "no language model is configured", "engine": "preset verbatim"}),
        ({"preset": "standard"}, {}, False, {"preset": "given", "engine": "no language model is configured"}),
        ({"engine": "llm"}, {}, True, {"preset": "implied by engine", "engine": "given", "rerank": "preset written"}),
        ({"top_k": 5}, {}, True, {"retriever": "implied by top_k", "rerank": "preset written"}),
        ({"node_k": 5}, {}, True, {"retriever": "implied by node_k", "rerank": "implied by retriever"}),
        ({"use_plan": False}, {"top_k": 3}, False, {"top_k": "settings", "retriever": "implied by top_k"}),
        ({"preset": "paper"}, {"use_plan": False}, True, {"use_plan": "default", "beam_width": "preset paper"}),
        ({"preset": "auto"}, {"top_k": 3}, False, {"top_k": "default", "preset": "no language model is configured"}),
    ],
)
def test_each_value_has_an_origin(given: Json, settings: Json, has_model: bool, origins: dict[str, str]) -> None:
    found = resolve(given, settings, has_model=has_model).origins
    assert {name: found[name] for name in origins} == origins


def test_what_is_resolved_once_stays_the_same() -> None:
    first = resolve({"preset": "raptor"}, {}, has_model=True).options
    assert resolve(dict(first), {"top_k": 3}, has_model=True).options == first


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "settings", "message"),
    [
        ({"topk": 3}, {}, r"There is no option 'topk'\. Known options: abstain, .*top_k"),
        ({}, {"topk": 3}, r"There is no option 'topk' in section \[answer\] of the settings\. Known options: abstain"),
        ({"profile": "verbatim"}, {}, "There is no option 'profile'. Use preset=verbatim or preset=written."),
        ({}, {"generator": "llm"}, r"no option 'generator' in section \[answer\] of the settings\. Use engine\."),
        ({"preset": "local"}, {}, "There is no option 'preset=local'. Use preset=verbatim."),
        ({"preset": "foo"}, {}, "Option preset: Input should be 'auto', 'written', 'verbatim', 'standard', 'paper'"),
        ({"top_k": 0}, {}, "Option top_k: Input should be greater than or equal to 1"),
        ({}, {"top_k": 0}, r"Option top_k in section \[answer\] of the settings"),
        ({"preset": "verbatim", "engine": "llm"}, {}, "preset='verbatim' and engine='llm' exclude each other"),
        ({"preset": "written", "engine": "local"}, {}, "preset='written' and engine='local' exclude each other"),
        ({"preset": "paper", "engine": "local"}, {}, "preset='paper' and engine='local' exclude each other"),
        ({"preset": "verbatim", "refine": 1}, {}, "refine .*preset='verbatim' does not let it"),
        ({"preset": "standard", "engine": "local", "refine": 1}, {}, "refine .*engine='local' does not let it"),
        ({"preset": "paper", "refine": 1}, {}, "refine .*preset='paper' does not let it"),
        ({"preset": "raptor", "top_k": 5}, {}, "top_k counts chunks, but 'raptor'.*evidence_words"),
        ({"preset": "standard", "context": "nodes"}, {}, "'dense' retrieves chunks"),
    ],
)
def test_a_wrong_option_is_named_with_what_to_do(given: Json, settings: Json, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(given, settings, has_model=True)


@pytest.mark.parametrize(
    ("given", "settings", "what"),
    [
        ({"preset": "written"}, {}, "preset='written' needs"),
        ({"preset": "rdr2"}, {}, "preset='rdr2' needs"),
        ({"preset": "standard", "engine": "llm"}, {}, "engine='llm' needs"),
        ({"refine": 2}, {}, "refine=2 needs"),
        ({}, {"preset": "paper"}, r"preset='paper' in section \[answer\] of the settings needs"),
    ],
)
def test_an_option_that_needs_a_model_says_how_to_name_one(given: Json, settings: Json, what: str) -> None:
    with pytest.raises(ConfigError, match=f"{what} a language model, but .*DISCO_RAG_MODEL"):
        resolve(given, settings, has_model=False)


# --- after the model has failed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ANSWERED, ids=json.dumps)
def test_after_a_failure_the_options_are_those_of_the_same_caller_without_a_model(case: Json) -> None:
    given, settings = case["given"], case["settings"]
    failed = without_model(given, settings).options
    assert (failed.engine, failed.refine) == ("local", 0)
    alone = ALONE.get(json.dumps([given, settings]))
    assert alone is None or differing(failed) == alone


@pytest.mark.parametrize(
    ("given", "settings", "kept"),
    [
        ({"preset": "written"}, {}, {"preset": "verbatim"}),
        ({"preset": "paper", "use_graph": False}, {}, {"preset": "verbatim", "use_graph": False}),
        ({"preset": "rdr2"}, {}, {"preset": "verbatim"}),
        ({"preset": "rdr2", "engine": "local"}, {}, {"preset": "verbatim", "engine": "local"}),
        ({"retriever": "rdr2", "unfold": 3}, {}, {"preset": "verbatim", "unfold": 3}),
        ({"preset": "standard", "engine": "llm"}, {}, {"preset": "standard", "engine": "local"}),
        ({"refine": 1, "retriever": "dense"}, {"top_k": 3}, {"retriever": "dense"}),
        ({"refine": 1}, {"top_k": 3}, {}),
        ({"verifier": "llm", "parser": "paper"}, {}, {}),
        ({}, {"preset": "written", "top_k": 3}, {"preset": "verbatim", "top_k": 3}),
    ],
)
def test_after_a_failure_what_needs_a_model_is_dropped_and_the_rest_stays(
    given: Json, settings: Json, kept: Json
) -> None:
    assert without_model(given, settings).options == resolve(kept, {}, has_model=False).options
