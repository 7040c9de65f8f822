from pathlib import Path

import pytest

from discorag.schema.errors import DiscoRagError, MissingPathError
from discorag.schema.values import Span
from eval.errors import DataError, RunLockedError
from eval.running.folder import RunFolder, load_run
from eval.running.record import Record
from eval.sample import DocSpan
from tests.eval.runs import a_run

SECRET = "lighthouse"
FULL = Record(
    sample="q1",
    system="disco",
    answer=f"The {SECRET} was built\u2028in 1901.\n",
    plan=SECRET,
    evidence=(DocSpan(doc="d", span=Span(start=0, end=3)),),
    scores={"em": 50.0},
    unscored={"judge": f"wrote {SECRET}"},
    seconds=1.5,
    error=f"ModelError: {SECRET}",
)
OTHER = Record(sample="q2", system="disco")


def filled(folder: Path, *records: Record) -> Path:
    with RunFolder.open(folder, "k1") as opened:
        opened.write_run(a_run())
        for record in records:
            opened.append(record)
    return folder


def test_records_survive_closing_and_resuming(tmp_path: Path) -> None:
    folder = filled(tmp_path / "new" / "run", FULL)
    with RunFolder.open(folder, "k1") as opened:
        assert opened.records() == (FULL,)
        opened.append(OTHER)
        assert load_run(folder)[1] == opened.records() == (FULL, OTHER)
    assert load_run(folder) == (a_run(), (FULL, OTHER))


def test_second_writer_is_refused_and_told_which_folder(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, "k1"), pytest.raises(RunLockedError, match=str(tmp_path)):
        RunFolder.open(tmp_path, "k1")
    RunFolder.open(tmp_path, "k1").close()
    assert issubclass(RunLockedError, DiscoRagError)


def test_folder_of_another_run_is_refused_and_left_unlocked(tmp_path: Path) -> None:
    folder = filled(tmp_path, FULL)
    with pytest.raises(DataError, match=r"holds another run .*Choose another --out or remove it"):
        RunFolder.open(folder, "k2")
    RunFolder.open(folder, "k1").close()
    assert load_run(folder)[1] == (FULL,)


def test_a_file_in_place_of_the_folder_and_records_without_run_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text(FULL.model_dump_json() + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"without run\.json"):
        RunFolder.open(tmp_path, "k1")
    (tmp_path / "out").touch()
    with pytest.raises(DataError, match="is a file"):
        RunFolder.open(tmp_path / "out", "k1")


@pytest.mark.parametrize("kept", [1, 40, -1])
def test_line_cut_off_by_a_crash_is_dropped_and_written_again(tmp_path: Path, kept: int) -> None:
    folder = filled(tmp_path, FULL)
    file = folder / "samples.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + (OTHER.model_dump_json() + "\n").encode()[:kept])
    assert load_run(folder)[1] == (FULL,)
    with RunFolder.open(folder, "k1") as opened:
        assert opened.records() == (FULL,)
        assert file.read_bytes() == whole
        opened.append(OTHER)
    assert load_run(folder)[1] == (FULL, OTHER)


def test_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    folder = filled(tmp_path, FULL)
    with (folder / "samples.jsonl").open("ab") as file:
        file.write(b'{"sample": "q\n' + OTHER.model_dump_json().encode() + b"\n")
    with pytest.raises(DataError, match=r"samples\.jsonl:2: "):
        load_run(folder)
    with pytest.raises(DataError, match=r"samples\.jsonl:2: "):
        RunFolder.open(folder, "k1")


def test_repeated_record_is_refused_on_writing_and_on_reading(tmp_path: Path) -> None:
    folder = filled(tmp_path, FULL)
    with RunFolder.open(folder, "k1") as opened, pytest.raises(DataError, match="sample q1, system disco is already"):
        opened.append(FULL)
    with (folder / "samples.jsonl").open("ab") as file:
        file.write(FULL.model_dump_json().encode() + b"\n")
    with pytest.raises(DataError, match=r"samples\.jsonl:2: .*appears twice"):
        load_run(folder)


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_score_that_json_cannot_hold_is_refused(tmp_path: Path, score: float) -> None:
    with RunFolder.open(tmp_path, "k1") as opened:
        with pytest.raises(DataError, match="em is"):
            opened.append(Record(sample="q", system="s", scores={"em": score}))
        assert opened.records() == ()


def test_write_run_replaces_the_whole_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, "k1") as opened:
        opened.write_run(a_run(note="x" * 10_000))
        opened.write_run(a_run(note="short"))
        opened.append(OTHER)
    assert load_run(tmp_path)[0].note == "short"
    assert {p.name for p in tmp_path.iterdir()} <= {"run.json", "samples.jsonl", ".lock"}


def test_missing_and_broken_run_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match=r"no run\.json"):
        load_run(tmp_path)
    (tmp_path / "run.json").write_text(a_run().model_dump_json(), encoding="utf-8")
    with pytest.raises(MissingPathError, match=r"no samples\.jsonl"):
        load_run(tmp_path)
    (tmp_path / "run.json").write_text('{"suite": 1}', encoding="utf-8")
    with pytest.raises(DataError, match=r"run\.json: suite"):
        load_run(tmp_path)
