from pathlib import Path

import pytest

import prompts
from prompts import PromptError, check, load, parse

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


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(PromptError, match="answer"):
        load("nothing")


# --- a user's own wording -------------------------------------------------------------------------


def own(folder: Path, name: str, source: str) -> Path:
    (folder / f"{name}.md").write_text(source, encoding="utf-8")
    return folder


def wording(name: str, **changes: str) -> str:
    """Our file in other words; ``changes`` replace parts of it."""
    source = (Path(prompts.__file__).parent / f"{name}.md").read_text(encoding="utf-8")
    for old, new in {"Write": "Pen", "You know": "Thou knowest", **changes}.items():
        source = source.replace(old, new)
    return source


def test_a_file_in_other_words_takes_the_place_of_ours_and_the_others_stay(tmp_path: Path) -> None:
    folder = own(tmp_path, "paper-graph", wording("paper-graph"))
    check(folder)
    assert load("paper-graph", folder).text.startswith("Thou knowest")
    assert load("paper-graph", folder).hash != load("paper-graph").hash
    assert load("paper-plan", folder) == load("paper-plan")


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        (
            "paper-graph",
            wording("paper-graph", **{", chunks]": "]", "{{chunks}}": ""}),
            r"variables must be \['chunks', ",
        ),
        ("paper-graph", wording("paper-graph", **{"output: text": "output: json"}), "output must be text"),
        ("paper-grph", GOOD, "No prompt is named 'paper-grph'; there are .*paper-graph"),
        ("paper-graph", "Just text.", "Front matter of prompt paper-graph"),
    ],
)
def test_a_file_that_cannot_stand_in_for_ours_is_named_with_what_differs(
    tmp_path: Path, name: str, source: str, said: str
) -> None:
    with pytest.raises(PromptError, match=said):
        check(own(tmp_path, name, source))
