import pytest

import prompts
from prompts import PromptError, load, parse

GOOD = "---\nname: x\nversion: 1\nvariables: [a]\noutput: text\n---\nSay {{a}}.\n"


@pytest.mark.parametrize("name", prompts.names())
def test_every_prompt_file_passes_the_loader(name: str) -> None:
    assert load(name).text


def test_a_value_that_looks_like_a_placeholder_is_not_filled_in_again() -> None:
    assert parse("x", GOOD).render(a="{{a}} {{b}}") == "Say {{a}} {{b}}."


@pytest.mark.parametrize("variables", [{}, {"b": "1"}, {"a": "1", "b": "2"}])
def test_missing_and_unknown_variables_are_refused(variables: dict[str, str]) -> None:
    with pytest.raises(PromptError, match="takes"):
        parse("x", GOOD).render(**variables)


@pytest.mark.parametrize(
    "bad",
    [
        GOOD.replace("{{a}}", "{{c}}"),
        GOOD.replace("name: x", "name: y"),
        GOOD.replace("output: text", "output: prose"),
        GOOD.replace("version: 1\n", ""),
        GOOD.replace("version: 1", "version: 1\nmood: good"),
    ],
    ids=["placeholder differs", "name differs", "unknown output", "no version", "unknown key"],
)
def test_a_malformed_file_is_refused(bad: str) -> None:
    with pytest.raises(PromptError):
        parse("x", bad)


def test_the_hash_changes_with_the_text() -> None:
    assert parse("x", GOOD).hash != parse("x", GOOD.replace("Say", "Write")).hash


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(PromptError, match="answer"):
        load("nothing")
