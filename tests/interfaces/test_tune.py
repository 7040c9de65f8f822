"""Settings for a user's own questions: what is scored, what is chosen, what gain is promised, what is written."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from discorag import DiscoRAG
from discorag.config import StoreSettings, read_settings
from discorag.schema.errors import InputError
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


def test_of_candidates_that_chance_cannot_tell_apart_the_one_that_reads_least_is_chosen() -> None:
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
    noise = choose(random.random((20, 12)), words[:20], OPTIONS * 4)
    assert noise.gain < noise.apparent


async def test_every_candidate_answers_every_question() -> None:
    settings = read_settings().model_copy(update={"store": StoreSettings(kind="memory")})
    with DiscoRAG(settings) as rag:
        await rag.aingest(EXAMPLES / "tides", parser="rules")
        examples = [Example(question=f"Why are there {n} tides?", answers=("the moon",)) for n in range(10)]
        with pytest.raises(InputError, match="9 questions are too few"):
            await find_settings(rag, examples[:9])
        answered: list[None] = []
        found = await find_settings(rag, examples, on_answer=lambda: answered.append(None))
        assert len(answered) == 10 * len(candidates(has_model=False)) == 10 * len(found.candidates)
        assert all(c.words > 0 for c in found.candidates)


def test_settings_are_written_into_their_section_and_used_where_a_question_chooses_no_retrieval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "disco-rag.toml"
    file.write_text('home = "x"\n\n[answer]\ntop_k = 3\n\n[reading]\nchunk_tokens = 128\n', "utf-8")
    write_settings(file, {"retriever": "sentences", "evidence_words": 30})
    written = tomllib.loads(file.read_text("utf-8"))
    assert written["answer"] == {"retriever": "sentences", "evidence_words": 30}
    assert (written["home"], written["reading"]) == ("x", {"chunk_tokens": 128})
    monkeypatch.setenv("DISCO_RAG_CONFIG", str(file))
    settings = read_settings().model_copy(update={"store": StoreSettings(kind="memory")})
    with DiscoRAG(settings) as rag:
        rag.ingest(EXAMPLES / "tides", parser="rules", retriever="sentences")
        assert rag.ask("Why are there tides?").evidence  # parts of chunks, as trees give them
        assert not rag.ask("Why are there tides?", top_k=5).evidence
