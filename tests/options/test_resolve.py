"""What `resolve` makes of given options: a table of values, where they come from, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from discorag.options import AnswerOptions, resolve
from discorag.schema.errors import DiscoRagError

Json = dict[str, Any]
CASES: list[Json] = [json.loads(line) for line in Path(__file__).with_name("expected.jsonl").open(encoding="utf-8")]
"""``expected``: values that differ from the defaults; null: refused."""


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
