"""What the benchmark of answers asks, and what it makes of a reply."""

from collections import Counter
from pathlib import Path

import pytest

from bench.answers.baselines import Baselines, Ranking
from bench.answers.figures import figures
from bench.answers.replies import Conflict, Reply, Sentence
from bench.answers.scores import Outcome, outcome
from bench.answers.sets import KEYS, restrict, spread, without_gold
from discorag.schema.values import Span
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument
from tests.conftest import Pipelines

TEXT = "It rains. The city of Bergen lies by the sea. It is old."
RAIN, CITY, OLD = (0, 9), (10, 45), (46, 56)
Place = tuple[int, int]


def place(start: int, end: int, doc: str = "d") -> DocSpan:
    return DocSpan(doc=doc, span=Span(start=start, end=end))


def sentence(start: int, end: int, doc: str = "d", text: str = "") -> Sentence:
    return Sentence(text=text or TEXT[start:end], evidence=(place(start, end, doc),))


def sample(*gold: Place, label: str = "evidence") -> Sample:
    pieces = tuple(Gold(label=label, anywhere=(place(*g),)) for g in gold)
    return Sample(id="q", query="Where?", documents=("d",), gold=pieces, short_answers=(("Bergen",),))


def score(question: Sample, *sentences: Sentence, run: str = "hotpotqa/own", best: Place | None = None) -> Outcome:
    documents = {"d": SourceDocument(id="d", title="Bergen", text=TEXT)}
    ranking = Ranking(id="q", best={"bm25": (place(*best),)}, scores={"bm25": 2.0}) if best else None
    benchmark = Benchmark(name="cities", documents=documents, samples=(question,))
    return outcome(question, Reply(id="q", sentences=sentences), ranking, run, benchmark)


@pytest.mark.parametrize(
    ("sentences", "is_right"),
    [
        ([sentence(10, 30)], True),
        ([sentence(0, 20)], True),  # half of it
        ([sentence(0, 19)], False),
        ([sentence(10, 30, "e")], False),
        ([sentence(*RAIN), sentence(*CITY)], False),
        ([], False),
    ],
)
def test_a_first_sentence_is_right_with_half_of_its_evidence_in_gold(sentences: list[Sentence], is_right: bool) -> None:
    assert score(sample((10, 40)), *sentences).first["product"] is is_right


@pytest.mark.parametrize(
    ("gold", "label", "run", "is_right"),
    [
        ([], "evidence", "qasper/own", True),  # no labelled evidence
        ([RAIN], "highlight", "qasper/own", True),
        ([RAIN], "evidence", "nq/own", True),  # whose gold is only where strings stand
        ([RAIN], "evidence", "qasper/own", False),
    ],
)
def test_an_accepted_string_counts_where_gold_does_not_name_evidence(
    gold: list[Place], label: str, run: str, is_right: bool
) -> None:
    assert score(sample(*gold, label=label), sentence(*CITY), run=run).first["product"] is is_right


@pytest.mark.parametrize(("found", "f1"), [((12, 20), 1.0), ((0, 45), 2 / 3), ((8, 44), 1.0), (OLD, 0.0)])
def test_f1_counts_sentences_that_share_half_of_themselves_or_of_the_evidence(found: Place, f1: float) -> None:
    assert score(sample(CITY), sentence(*found)).f1["product"] == pytest.approx(f1)


def test_words_and_sides_are_counted_where_evidence_touches_gold() -> None:
    assert score(sample(CITY), sentence(4, 12), run="acl_verbatim/own").words["product"] == (1, 1, 7)
    both = sample(RAIN, OLD)
    assert score(both, sentence(0, 30), run="wikicontradict/own").sides["product"] == 1
    assert score(both, sentence(*RAIN), sentence(*OLD), run="wikicontradict/own").sides["product"] == 2


def test_what_an_answer_quotes_around_its_evidence_counts_as_text_and_not_as_its_first_sentence() -> None:
    answer = sentence(*OLD).model_copy(update={"context": (place(*CITY),), "text": TEXT[10:56]})
    found = score(sample(CITY), answer)
    assert (found.first["product"], found.f1["product"]) == (False, pytest.approx(2 / 3))


def test_a_pronoun_dangles_unless_what_stands_before_it_is_quoted() -> None:
    assert score(sample(CITY), sentence(*OLD)).faults == ("dangling",)
    assert score(sample(CITY), sentence(*CITY), sentence(*OLD)).faults == ()
    assert score(sample(CITY), sentence(14, 40, text="city of **Bergen** lies")).faults == ("fragments", "markup")


def test_a_refused_question_counts_with_the_answer_that_was_forced_and_baselines_count_alike() -> None:
    question = sample(CITY)
    reply = Reply(id="q", refused="Nothing says so.", forced=(sentence(*RAIN), sentence(*CITY)))
    documents = {"d": SourceDocument(id="d", title="Bergen", text=TEXT)}
    benchmark = Benchmark(name="cities", documents=documents, samples=(question,))
    ranking = Ranking(id="q", best={"bm25": (place(*CITY),), "reranker": (place(*OLD),)}, scores={"bm25": 2.0})
    found = outcome(question, reply, ranking, "hotpotqa/own", benchmark)
    assert found.first == {"product": False, "product_refusing": False, "bm25": True, "reranker": False}
    assert (found.refused, found.scores) == (True, {"bm25": 2.0})


def test_a_question_without_its_gold_documents_cannot_be_answered() -> None:
    assert score(sample(CITY)).answerable
    assert not score(sample(CITY), run="hotpotqa/without").answerable


def ranked(product: bool, reranker: bool) -> Outcome:
    first = {"product": product, "product_refusing": False, "bm25": False, "cosine": False, "reranker": reranker}
    return Outcome(answerable=True, refused=False, first=first, f1={name: float(hit) for name, hit in first.items()})


def test_first_sentences_are_percentages_with_paired_differences() -> None:
    run = {"a": ranked(True, True), "b": ranked(True, False), "c": Outcome(answerable=False, refused=True)}
    runs = {name: run for name in KEYS["first_sentence"]}
    found = figures(runs, {})["first_sentence"]["nq"]
    assert [found[key]["value"] for key in ("product", "reranker", "product_less_reranker", "product_refusing")] == [
        100.0,
        50.0,
        50.0,
        0.0,
    ]
    assert found["n"] == 2


def judged(answerable: bool, refused: bool, probability: float | None, bm25: float) -> Outcome:
    return Outcome(answerable=answerable, refused=refused, probability=probability, scores={"bm25": bm25})


def test_refusal_is_measured_by_decision_and_by_threshold_next_to_simple_scores() -> None:
    outcomes = [
        judged(True, False, 0.9, 1.0),
        judged(True, True, 0.8, 3.0),
        judged(False, True, 0.1, 2.0),
        judged(False, False, 0.2, 0.0),
    ]
    found = figures({"clapnq/own": {str(i): o for i, o in enumerate(outcomes)}}, {})["clapnq"]
    decided = ("refused_right", "refused_wrong", "auc", "refused_right_at_05")
    assert [found[key]["value"] for key in decided] == [0.5, 0.5, 1.0, 1.0]
    assert found["simple"]["bm25"]["auc"]["value"] == 0.75
    assert found["simple"]["bm25"]["product_less_it_auc"]["value"] == 0.25


def test_without_probability_there_is_no_auc_and_without_all_of_its_runs_no_key() -> None:
    run = {"a": judged(True, False, None, 1.0), "b": judged(False, True, None, 0.0)}
    found = figures({"clapnq/own": run}, {})["clapnq"]
    assert found["auc"] is None
    assert "product_less_it_auc" not in found["simple"]["bm25"]
    assert figures({"clapnq/own": {}, "nq/own": {"q": Outcome(answerable=True, refused=False)}}, {}).keys() == {
        "spans_exact"
    }


def test_word_f1_is_pooled_and_rows_without_gold_count_what_was_marked() -> None:
    run = {
        "a": Outcome(answerable=True, refused=False, words={"product": (3, 1, 3), "reranker": (0, 0, 6)}),
        "b": Outcome(answerable=False, refused=False, words={"product": (0, 2, 0), "reranker": (0, 4, 0)}),
    }
    found = figures({"acl_verbatim/own": run}, {})["acl_verbatim"]["word_f1"]
    assert (found["product"]["precision"], found["product"]["recall"]) == (0.5, 0.5)
    assert found["product_less_reranker"]["value"] == pytest.approx(0.5)


def test_a_conflict_without_a_mark_is_false() -> None:
    conflict = Conflict(relation="CONTRADICTS", a="x", b="y").id
    assert conflict == Conflict(relation="CONTRADICTS", a="y", b="x").id
    quiet = Outcome(answerable=True, refused=False)
    runs = {name: {"q": quiet} for name in KEYS["false_reports"]}
    runs["nq/own"] = {"q": quiet.model_copy(update={"conflicts": (conflict,)})}
    assert figures(runs, {})["false_reports"]["false"] == 1
    assert figures(runs, {conflict: True})["false_reports"]["false"] == 0


def test_a_sample_is_spread_over_the_documents_and_always_the_same() -> None:
    samples = [Sample(id=f"{doc}-{n}", query="Who?", documents=(doc,)) for doc in "abc" for n in range(9)]
    chosen = spread(samples, 7)
    assert chosen == spread(reversed(samples), 7)
    assert sorted(Counter(s.documents[0] for s in chosen).values()) == [2, 2, 3]


def test_documents_with_gold_evidence_and_of_questions_that_are_not_asked_are_left_out() -> None:
    documents = {doc: SourceDocument(id=doc, title=doc, text=doc) for doc in "abc"}
    gold = Gold(label="evidence", anywhere=(place(0, 1, "b"),))
    question = Sample(id="q", query="Who?", documents=("a", "b"), gold=(gold,))
    whole = Benchmark(name="made", documents=documents, samples=(question, Sample(id="p", query="?", documents=("c",))))
    assert without_gold(question) == ("a",)
    assert list(restrict(whole, [question]).documents) == ["a", "b"]


def test_baselines_rank_sentences_under_headings_and_the_best_of_each_document(
    shared_pipeline: Pipelines, tmp_path: Path
) -> None:
    documents = {
        "mill": SourceDocument(id="mill", title="Mills", text="# The mill\n\nThe mill stands still. The miller waits."),
        "river": SourceDocument(id="river", title="Rivers", text="A river is long. Mills need rivers."),
    }
    question = Sample(id="q", query="Does the mill stand still?", documents=("mill", "river"))
    benchmark = Benchmark(name="mills", documents=documents, samples=(question,))
    found = Baselines(shared_pipeline(), benchmark, tmp_path).rank(question, ("mill", "river"))
    for name in ("bm25", "cosine", "reranker"):
        first = found.best[name][0]
        assert first.span.of(documents[first.doc].text) == "The mill stands still."
    assert {p.doc for p in found.best["bm25_each"]} == {"mill", "river"}
    assert found.scores.keys() == {f"{n}{s}" for n in ("bm25", "cosine", "reranker") for s in ("", "_sentence")}


def test_of_the_attributes_the_first_half_is_open_and_the_other_kept_apart() -> None:
    outcomes = [judged(True, False, 0.9, 1.0), judged(False, True, 0.1, 0.0)]
    outcomes += [judged(True, True, 0.1, 1.0), judged(False, False, 0.9, 0.0)]
    found = figures({"nq/attributes": {str(i): o for i, o in enumerate(outcomes)}}, {})["attributes"]
    decided = [[found[half][key]["value"] for key in ("refused_right", "refused_wrong")] for half in found]
    assert (list(found), decided) == (["open", "kept_apart"], [[1.0, 0.0], [0.0, 1.0]])
