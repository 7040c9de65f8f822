"""Settings for a user's own questions: what is scored, what is chosen, what gain is promised, what is written."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from discorag import DiscoRAG
from discorag.config import StoreSettings, read_settings
from discorag.schema.errors import ConfigError, InputError
from interfaces.questions import read_questions
from interfaces.tune import Example, Options, candidates, choose, find_settings, score, write_settings
from tests.interfaces.test_cli import EXAMPLES

OPTIONS: list[Options] = [{}, {"evidence_words": 200}, {"evidence_words": 800}]


def test_a_question_is_scored_by_the_passages_read_and_by_its_best_answer() -> None:
    example = Example(question="?", passages=("Red foxes hunt at night.",), answers=("at dusk", "at night"))
    assert score(example, "at night", ["They say that red foxes hunt at night, always."]) == 1
    assert score(example, "", ["Red foxes sleep."]) == pytest.approx((1 / 3) / 2)  # pairs: red foxes of three
    assert score(Example(question="?", answers=("one two",)), "two three", []) == pytest.approx(0.5)


@pytest.mark.parametrize("line", ['{"question": "Why?"}', '{"question": "Why?", "passages": ["..."]}'])
def test_a_question_that_expects_nothing_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(line, "utf-8")
    with pytest.raises(InputError, match=r"Line 1 of .*passages or answers"):
        read_questions(file, Example)


def test_of_candidates_that_are_equally_good_the_one_that_reads_least_is_chosen() -> None:
    random = np.random.default_rng(1)
    base = random.random(60)
    scores = np.stack([base, base + random.normal(0, 0.05, 60), base + 0.001 * random.random(60)], axis=1)
    found = choose(scores, np.tile([400.0, 200.0, 800.0], (60, 1)), OPTIONS)
    assert found.candidates[found.chosen].options == {"evidence_words": 200}
    assert not found.is_better


def test_a_real_gain_is_promised_and_that_of_chance_is_not() -> None:
    random = np.random.default_rng(2)
    now, words = random.random(80), np.tile([400.0] * 12, (80, 1))
    better = np.stack([now, *(now - 0.2 * random.random(80) for _ in range(10)), now + 0.3], axis=1)
    found = choose(better, words, OPTIONS * 4)
    assert (found.chosen, found.is_better) == (11, True)
    assert found.low <= found.gain <= found.high
    assert found.gain == pytest.approx(0.3, abs=0.01)
    assert not choose(random.random((20, 12)), words[:20], OPTIONS * 4).is_better


async def test_every_candidate_is_tried_on_every_question() -> None:
    options: list[Options] = [{}, {"retriever": "dense", "top_k": 5}, {"evidence_words": 20}]
    settings = read_settings().model_copy(update={"store": StoreSettings(kind="memory")})
    with DiscoRAG(settings) as rag:
        await rag.aingest(EXAMPLES / "tides", parser="none")
        passage = "The Moon pulls more strongly on the near side of the Earth."
        examples = [Example(question=f"Why are there {n} tides?", passages=(passage,)) for n in range(2)]
        tried: list[None] = []
        examples.append(Example(question="Why are there two tides?", answers=("the Moon",)))
        found = await find_settings(rag, examples, options, on_answer=lambda: tried.append(None))
    assert len(tried) == len(examples) * len(options)
    assert [c.options for c in found.candidates] == options
    assert found.candidates[0].words > found.candidates[2].words > 0


def test_presets_are_candidates_where_a_model_answers_questions_with_expected_answers() -> None:
    passages, answers = Example(question="?", passages=("red",)), Example(question="?", answers=("red",))
    both = candidates([passages, answers] * 5, has_model=True)
    assert {c.get("preset") for c in both} == {None, "verbatim", "written"}
    with pytest.raises(InputError, match="9 questions are too few"):
        candidates([answers] * 9, has_model=True)
    for without in (candidates([passages] * 10, has_model=True), candidates([answers] * 10, has_model=False)):
        assert not any("preset" in c for c in without)
        assert len(both) == 2 * len(without) - 1


def test_settings_are_written_into_their_section_and_used_where_a_question_chooses_no_retrieval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "disco-rag.toml"
    file.write_text('home = "x"\n\n[answer]\ntop_k = 3\n\n[reading]\nchunk_tokens = 128\n', "utf-8")
    write_settings(file, {"retriever": "sentences", "evidence_words": 30})
    written = tomllib.loads(file.read_text("utf-8"))
    assert written["answer"] == {"retriever": "sentences", "evidence_words": 30}
    assert (written["home"], written["reading"]) == ("x", {"chunk_tokens": 128})
    monkeypatch.chdir(tmp_path)
    settings = read_settings().model_copy(update={"store": StoreSettings(kind="memory")})
    with DiscoRAG(settings) as rag:
        rag.ingest(EXAMPLES / "tides", parser="rules", retriever="sentences")
        assert rag.ask("Why are there tides?").evidence  # parts of chunks, as trees give them
        assert not rag.ask("Why are there tides?", top_k=5).evidence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[answer]\ntop_k = 5\n"),
        ("[answer] # mine\ntop_k = 3 # few\npool = 9\n", "[answer] # mine\ntop_k = 5 # few\n"),
        ('a = [\n    "[answer]",\n]\n', 'a = [\n    "[answer]",\n]\n\n[answer]\ntop_k = 5\n'),
        ("answer.pool = 9\nb = 1\n", "answer.top_k = 5\nb = 1\n"),
        ("answer = {top_k = 3}\n", "answer = {top_k = 5}\n"),
    ],
)
def test_what_else_is_in_the_settings_file_stays(tmp_path: Path, before: str, after: str) -> None:
    file = tmp_path / "disco-rag.toml"
    file.write_text(before, "utf-8")
    write_settings(file, {"top_k": 5})
    assert file.read_text("utf-8") == after
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("before", [b"[answer\n", b"answer = 3\n", b"\xff"])
def test_settings_that_cannot_be_changed_stay(tmp_path: Path, before: bytes) -> None:
    file = tmp_path / "disco-rag.toml"
    file.write_bytes(before)
    with pytest.raises(ConfigError, match=r"Write the section \[answer\] yourself"):
        write_settings(file, {"top_k": 5})
    assert file.read_bytes() == before


def test_a_wrong_option_in_the_settings_is_found_there_and_not_in_the_question() -> None:
    settings = read_settings().model_copy(update={"store": StoreSettings(kind="memory"), "answer": {"top_j": 5}})
    with DiscoRAG(settings) as rag:
        with pytest.raises(InputError, match=r"no option 'top_j' in section \[answer\] of the settings"):
            rag.ask("Why?")
        with pytest.raises(InputError, match=r"no option 'top_i'\. Known options: abstain, "):
            rag.ask("Why?", top_i=5, refine=1)  # pyright: ignore
