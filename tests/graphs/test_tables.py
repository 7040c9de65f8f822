"""Facts that stand in one table: what must repeat them agrees with it."""

import json
import re
from pathlib import Path
from typing import get_args, get_type_hints

from discorag.options import PRESETS, Preset
from graphs import baselines
from graphs.baselines import PIPELINES
from nodes.state import AnswerInput, AnswerState, fresh_answer

ROOT = Path(__file__).parents[2]
WORDS = (ROOT / "web/src/lib/words.ts").read_text("utf-8")


def _names(table: str) -> list[str]:
    """The keys of a table of the page's words."""
    [body] = re.findall(rf"const {table}: Record<string, string> = {{(.*?)}}", WORDS, re.DOTALL)
    return re.findall(r"^\s*\"?([\w-]+)\"?:", body, re.MULTILINE)


def test_presets_have_a_type_and_words_on_the_page_and_baselines_are_graphs_of_studio() -> None:
    assert list(get_args(Preset)) == ["auto", *PRESETS] == _names("PRESETS")
    drawn = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"].keys()
    assert drawn == {"answer", "ingest", *baselines.BASELINES}
    assert PIPELINES.keys() >= baselines.NEEDS_MODEL


def test_a_new_question_leaves_nothing_of_the_one_before() -> None:
    written = get_type_hints(AnswerState).keys() - get_type_hints(AnswerInput).keys()
    assert fresh_answer({}).keys() == written - {"question", "ledger"}
