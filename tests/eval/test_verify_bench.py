import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.models.protocol import Encoder
from discorag.types.errors import MissingPathError
from eval.errors import DataError
from eval.verify_bench import (
    FALSE_ALARM,
    Edit,
    Pair,
    cosine,
    judge,
    load_pairs,
    measure,
    overlap,
    run_bench,
    scores,
    threshold,
)

FOLDER = Path(__file__).parents[2] / "bench" / "verify"
FILES = sorted(FOLDER.glob("*.jsonl"))
EVIDENCE = "The ferry carried 40 passengers across the strait on Monday. It did not sail on Tuesday."


def pair(sentence: str = "Anything.", edit: Edit = "none", *, id: str = "p", evidence: str = EVIDENCE) -> Pair:
    return Pair(id=id, evidence=evidence, sentence=sentence, supported=edit == "none", edit=edit, genre="news")


def write(path: Path, pairs: list[Pair]) -> Path:
    path.write_text("".join(p.model_dump_json() + "\n" for p in pairs), encoding="utf-8")
    return path


PAIRS = [
    pair("The ferry carried 40 passengers across the strait on Monday.", id="a"),
    pair("On Monday the ferry carried 40 passengers across the strait.", id="b"),
    pair("The ferry carried 50 passengers across the strait on Monday.", "number", id="c"),
    pair("The ferry did sail on Tuesday.", "negation", id="d"),
    pair("Walruses compose operas underwater.", "entity", id="e"),
]


# --- the pair files -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_each_half_has_forty_supported_pairs_and_ten_of_each_edit(path: Path) -> None:
    edits = ("number", "negation", "condition", "attribution", "entity", "time")
    assert Counter(p.edit for p in load_pairs(path)) == {"none": 40, **dict.fromkeys(edits, 10)}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_no_length_in_a_half_is_out_of_the_agreed_bounds(path: Path) -> None:
    assert [p.id for p in load_pairs(path) if not 15 <= len(p.evidence.split()) <= 60] == []


def test_no_id_and_no_evidence_stands_twice_in_one_half_or_in_both() -> None:
    pairs = [p for path in FILES for p in load_pairs(path)]
    assert FOLDER / "dev.jsonl" in FILES
    assert [k for k, n in Counter(p.id for p in pairs).items() if n > 1] == []
    assert [k for k, n in Counter(" ".join(p.evidence.casefold().split()) for p in pairs).items() if n > 1] == []


# --- loading --------------------------------------------------------------------------------------


def test_pairs_are_read_in_file_order(tmp_path: Path) -> None:
    assert load_pairs(write(tmp_path / "dev.jsonl", PAIRS)) == PAIRS


def renamed(line: dict[str, Any]) -> dict[str, Any]:
    return {("claim" if k == "sentence" else k): v for k, v in line.items()}


SPOILT: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "cut off": (lambda line: json.dumps(line)[:-20], "dev.jsonl:2"),
    "field renamed": (lambda line: json.dumps(renamed(line)), "dev.jsonl:2: sentence"),
    "unknown edit": (lambda line: json.dumps({**line, "edit": "tone"}), "dev.jsonl:2: edit"),
    "label and edit at odds": (lambda line: json.dumps({**line, "edit": "time"}), "edit is 'time'"),
    "extra field": (lambda line: json.dumps({**line, "note": "x"}), "dev.jsonl:2: note"),
    "id repeated": (lambda line: json.dumps({**line, "id": "a"}), "dev.jsonl:2: id a appears twice"),
}


@pytest.mark.parametrize(("spoil", "named"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_line_is_named_with_its_field(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], str], named: str
) -> None:
    path = write(tmp_path / "dev.jsonl", PAIRS)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1] = spoil(json.loads(lines[1]))
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match=named):
        load_pairs(path)


@pytest.mark.parametrize("kept", [[], PAIRS[:2], PAIRS[2:]], ids=["empty", "all supported", "none supported"])
def test_a_half_of_which_no_rate_can_be_told_is_refused(tmp_path: Path, kept: list[Pair]) -> None:
    with pytest.raises(DataError, match="needs supported and unsupported"):
        load_pairs(write(tmp_path / "dev.jsonl", kept))


def test_a_missing_half_is_an_error_and_not_an_empty_column(tmp_path: Path) -> None:
    write(tmp_path / "dev.jsonl", PAIRS)
    with pytest.raises(MissingPathError, match=r"heldout\.jsonl"):
        run_bench(tmp_path, tmp_path / "verify.json")
    assert not (tmp_path / "verify.json").exists()


# --- metrics --------------------------------------------------------------------------------------


def test_recall_and_false_alarms_are_shares_of_the_unsupported_and_of_the_supported() -> None:
    edits: list[Edit] = ["none", "none", "none", "none", "number", "number", "time", "time", "time"]
    found = [True, True, True, False, False, True, False, False, True]
    got = scores([pair(edit=e) for e in edits], found)
    assert (got.recall.value, got.recall.n) == (3 / 5, 5)  # flagged: one of two numbers, two of three times
    assert (got.false_alarm.value, got.false_alarm.n) == (1 / 4, 4)
    assert {e: (r.value, r.n) for e, r in got.by_edit.items()} == {"number": (1 / 2, 2), "time": (2 / 3, 3)}


def test_intervals_are_wilsons() -> None:
    # 8 of 10, z = 1.95996, z^2 = 3.84146: centre = (0.8 + 3.84146 / 20) / (1 + 0.384146) = 0.992073 / 1.384146
    # = 0.716740; half = 1.95996 / 1.384146 * sqrt(0.8 * 0.2 / 10 + 3.84146 / 400)
    # = 1.416007 * sqrt(0.016 + 0.00960365) = 1.416007 * 0.160012 = 0.226578
    pairs = [pair()] + [pair(edit="time")] * 10
    recall = scores(pairs, [True] + [False] * 8 + [True] * 2).recall
    assert (recall.low, recall.high) == pytest.approx((0.716740 - 0.226578, 0.716740 + 0.226578), abs=1e-5)


def test_overlap_is_the_share_of_the_sentences_content_words_in_the_evidence() -> None:
    # content words: ferry, carried, walruses, monday; "the" and "on" are stop words; three of four are in the evidence
    assert overlap([pair("The ferry carried walruses on Monday.")]) == [3 / 4]


async def test_cosine_is_one_for_a_copy_and_low_for_another_topic(encoder: Encoder) -> None:
    copy, other = await cosine([pair(EVIDENCE), PAIRS[4]], encoder)
    assert copy == pytest.approx(1.0, abs=1e-5)
    assert other < 0.3


def test_the_threshold_lets_a_tenth_of_the_supported_pairs_be_flagged_and_no_more() -> None:
    supported = [0.1, 0.3, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 1.0]  # a tenth of ten is one: 0.1 may lie below
    pairs = [pair()] * 10 + [pair(edit="time")] * 2
    assert threshold(pairs, [*supported, 0.2, 0.4]) == 0.3


@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), min_size=1, max_size=40),
    st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), min_size=1, max_size=40),
)
def test_no_threshold_with_few_enough_false_alarms_has_a_higher_recall(good: list[float], bad: list[float]) -> None:
    pairs = [pair()] * len(good) + [pair(edit="time")] * len(bad)
    best = threshold(pairs, good + bad)

    def flagged(values: list[float], at: float) -> float:
        return sum(x < at for x in values) / len(values)

    allowed = [t for t in {*good, *bad, 2.0} if flagged(good, t) <= FALSE_ALARM]
    assert flagged(good, best) <= FALSE_ALARM
    assert flagged(bad, best) == max(flagged(bad, t) for t in allowed)


# --- the verifier ---------------------------------------------------------------------------------


async def test_a_copy_is_judged_supported_and_an_invention_unsupported(encoder: Encoder) -> None:
    assert await judge([PAIRS[0], PAIRS[2], PAIRS[4]], encoder) == [True, False, False]


async def test_a_sentence_is_held_against_its_own_evidence_only(encoder: Encoder) -> None:
    elsewhere = pair(PAIRS[0].sentence, "entity", id="z", evidence="Walruses compose operas underwater, it is said.")
    assert await judge([PAIRS[0], elsewhere], encoder) == [True, False]


async def test_thresholds_come_from_the_development_half(tmp_path: Path, encoder: Encoder) -> None:
    write(tmp_path / "dev.jsonl", PAIRS)
    # content words: ferry, carried, walruses; two of three are in the evidence, below the threshold of 1 from dev
    write(tmp_path / "heldout.jsonl", [pair("The ferry carried walruses.", id="f"), PAIRS[4]])
    halves = await measure(tmp_path, encoder)
    assert {half.baselines["overlap"].threshold for half in halves.values()} == {1.0}
    assert halves["heldout"].baselines["overlap"].false_alarm.value == 1.0


def test_a_run_prints_a_table_and_writes_what_it_returns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "dev.jsonl", PAIRS)
    write(tmp_path / "heldout.jsonl", [PAIRS[0], PAIRS[4]])
    out = tmp_path / "results" / "verify.json"
    result = run_bench(tmp_path, out)
    assert json.loads(out.read_text(encoding="utf-8")) == result
    assert list(result) == ["recall", "false_alarm", "baselines", "dev", "heldout"]
    halves = result["dev"], result["heldout"]
    assert all(set(half) == {"recall", "false_alarm", "by_edit", "baselines", "n"} for half in halves)
    assert result["recall"] == result["heldout"]["recall"]["value"]
    assert result["baselines"]["overlap"]["recall"] == result["heldout"]["baselines"]["overlap"]["recall"]["value"]
    assert (result["dev"]["n"], result["heldout"]["n"]) == (5, 2)
    assert set(result["heldout"]["baselines"]) == {"cosine", "overlap"}
    assert "verifier" in capsys.readouterr().out
