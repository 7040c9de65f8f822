import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from eval.errors import MetricUnavailableError
from eval.metrics.asqa import DISAMBIG, Reader, Window, best_span
from tests.eval.metrics.givens import given

WORDS = ["acme", "built", "the", "bridge", "in", "1902", "and", "again", "1950", "who", "when", "was", "it", "?"]
OFFSETS = (None, None, (0, 4), (5, 10), (11, 15), None)  # [CLS] question, three words of the context, [SEP]


def window(start: Sequence[float], end: Sequence[float]) -> Window:
    return Window(start, end, OFFSETS)


SURE, UNSURE = window([8, 0, 0, 0, 0, 0], [8, 0, 0, 0, 0, 0]), window([1, 0, 0, 4, 0, 0], [1, 0, 0, 4, 0, 0])


@pytest.mark.parametrize(
    ("windows", "span"),
    [
        # words 3 to 4: 4 + 5 = 9; word 2 alone: 3 + 2 = 5; null: 1 + 1 = 2
        ([window([1, 0, 3, 4, 0, 0], [1, 0, 2, 0, 5, 0])], (5, 15)),
        # "no answer" wins only with a higher score: 5.5 > 3 + 2, 5 = 5
        ([window([3.5, 0, 3, 0, 0, 0], [2, 0, 2, 0, 0, 0])], None),
        ([window([3, 0, 3, 0, 0, 0], [2, 0, 2, 0, 0, 0])], (0, 4)),
        # question token 1 and [SEP] are best but not in the context; 4 to 2 is backwards: 2 to 2 (1 + 6) remains
        ([window([0, 9, 1, 0, 6, 9], [0, 9, 6, 0, 0, 9])], (0, 4)),
        # over windows the best span (8) meets the lowest null score: 16 and 2
        ([SURE, UNSURE], (5, 10)),
        ([SURE], None),
        ([Window([0, 9], [0, 9], (None, None))], None),
    ],
)
def test_the_span_with_the_highest_sum_of_logits_is_read(windows: list[Window], span: tuple[int, int] | None) -> None:
    assert best_span(windows) == span


def test_a_span_is_at_most_thirty_tokens_long() -> None:
    offsets = [None, *((i, i + 1) for i in range(40))]
    start, end = [0.0] * 41, [0.0] * 41
    start[1], end[31], end[30] = 5, 5, 4  # 1 to 31 are 31 tokens; 1 to 30 are 30
    assert best_span([Window(start, end, offsets)]) == (0, 30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader of 8 dimensions that has learnt nothing."""
    import torch
    import transformers

    library = cast("Any", transformers)
    library.set_seed(0)
    path = tmp_path_factory.mktemp("reader")
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *WORDS])}
    library.BertTokenizer(vocab=vocabulary, model_max_length=512).save_pretrained(path)
    config = library.BertConfig(
        vocab_size=len(vocabulary), hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    model = library.BertForQuestionAnswering(config)
    with torch.no_grad():
        model.qa_outputs.weight *= 200
    model.save_pretrained(path)
    return path


async def test_read_answers_are_scored_against_their_own_pair_and_nothing_is_read_in_an_empty_one(folder: Path) -> None:
    reader = Reader(folder)
    answer = "Acme built the bridge in 1902 and again in 1950."
    questions = ("when was it built?", "who built it?")
    read = [reader.read(question, answer) for question in questions]
    right = given(answer, disambiguated=questions, short_answers=[["nobody", one] for one in read])
    half = given(answer, disambiguated=questions, short_answers=[[read[0]], ["x"]])
    scores = [await metric(reader).score(right) for metric in DISAMBIG.values()]
    assert scores == [100, 100, 100]
    scores = [await metric(reader).score(half) for metric in DISAMBIG.values()]
    assert scores == [50, 50, 0]
    assert Reader(folder).read("when?", " ") == ""


@pytest.mark.parametrize("metric", DISAMBIG.values(), ids=DISAMBIG)
async def test_a_sample_without_disambiguated_questions_is_not_scored(metric: Any, folder: Path) -> None:
    assert await metric(Reader(folder)).score(given("1902", short_answers=[["1902"]])) is None


def test_a_folder_without_a_reader_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetricUnavailableError, match=str(tmp_path)):
        Reader(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertForMaskedLM"]}))
    with pytest.raises(MetricUnavailableError, match="BertForMaskedLM"):
        Reader(tmp_path)


def test_a_reader_without_weights_is_unavailable(tmp_path: Path, folder: Path) -> None:
    for file in folder.iterdir():
        if file.suffix == ".json":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(MetricUnavailableError, match="cannot be loaded"):
        Reader(tmp_path).read("when?", "1902")
