from pathlib import Path

from eval.datasets.hotpotqa import load_hotpotqa
from tests.eval.datasets.official import gold_texts

BENCHMARK = load_hotpotqa(Path(__file__).parents[1] / "fixtures" / "hotpotqa" / "hotpot_dev_distractor_sample100.json")


def test_a_paragraph_is_one_document_of_its_sentences_and_questions_keep_answer_and_strata() -> None:
    document = BENCHMARK.documents["Gull Island"]
    assert document.text == "# Gull Island\n\nGull Island is small. It lies in the River Onn."
    assert [part.of(document.text) for part in document.parts] == ["Gull Island is small.", "It lies in the River Onn."]
    sample = BENCHMARK.samples[0]
    assert sample.id == "h1"
    assert sample.references == ("River Onn",)
    assert sample.short_answers == (("River Onn",),)
    assert sample.strata == {"type": "bridge", "level": "hard"}


def test_paragraphs_are_pooled_and_another_text_of_a_title_gets_its_own_id() -> None:
    first, second = BENCHMARK.samples
    assert first.documents == ("Ivo Tarn", "Gull Island", "Onn")
    assert second.documents[2] == "Ivo Tarn"
    onn, gull = second.documents[:2]
    assert onn.startswith("Onn [")
    assert BENCHMARK.documents[onn].text == "# Onn\n\nOnn is a town."
    assert BENCHMARK.documents[gull].text == "# Gull Island\n\nGull Island is big."
    assert len(BENCHMARK.documents) == 5


def test_supporting_facts_point_at_their_sentence_past_blank_ones_and_those_without_one_are_counted() -> None:
    assert [gold_texts(BENCHMARK, sample) for sample in BENCHMARK.samples] == [
        [("Ivo Tarn#0", ["Ivo Tarn was born on Gull Island."]), ("Gull Island#2", ["It lies in the River Onn."])],
        [("Onn#0", ["Onn is a town."]), ("Gull Island#1", ["Gull Island is big."])],
    ]
    assert BENCHMARK.dropped == {"supporting fact not in the context": 2}
