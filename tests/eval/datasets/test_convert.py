"""``python -m eval data``: what is here, and published files converted into the layout that the loaders read."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discorag.schema.errors import ConfigError, MissingPathError
from eval.__main__ import app
from eval.datasets.convert import convert
from eval.datasets.registry import LOADERS, load_benchmark
from eval.datasets.sources import SOURCES
from eval.errors import DataError
from tests.eval.helpers import FIXTURES


def test_every_set_is_listed_with_where_it_is_and_where_it_is_published(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "scinews", tmp_path / "scinews")
    said = " ".join(CliRunner().invoke(app, ["data", "--data", str(tmp_path)]).output.split())
    for state in ("scinews: here", "loong: not here", "asqa: not here"):
        assert state in said
    for source in SOURCES.values():
        for fact in (source.published, source.licence, source.size, source.layout, source.unseen):
            assert " ".join(fact.split()) in said
    asked = LOADERS.keys() - {"clapnq"}  # a test set of bench alone
    assert asked == SOURCES.keys()


def test_scinews_is_converted_from_lists_lines_and_columns(tmp_path: Path) -> None:
    rows = json.loads((FIXTURES / "scinews" / "test.json").read_text("utf-8"))
    lower = [{k.lower(): v for k, v in row.items()} for row in rows]
    forms = {
        "list": json.dumps(rows),
        "lines": "\n".join(map(json.dumps, lower)),
        "columns": json.dumps({k: {str(i): row.get(k) for i, row in enumerate(rows)} for k in rows[0]}),
    }
    for name, text in forms.items():
        (tmp_path / f"{name}.json").write_text(text, "utf-8")
        said = convert("scinews", tmp_path / f"{name}.json", tmp_path / name)
        official = load_benchmark("scinews", FIXTURES / "scinews" / "test.json")
        assert load_benchmark("scinews", tmp_path / name / "scinews" / "test.json").samples == official.samples
        assert "The published set has 4,188 questions: this is not all of it." in said
        assert any(line.startswith("We know from documentation only: the whole file") for line in said)


def test_loong_is_converted_from_a_clone_with_its_archive_of_documents(tmp_path: Path) -> None:
    clone = tmp_path / "Loong" / "data"
    clone.mkdir(parents=True)
    shutil.copyfile(FIXTURES / "loong" / "loong.jsonl", clone / "loong.jsonl")
    with zipfile.ZipFile(clone / "doc.zip", "w") as archive:
        for file in (FIXTURES / "loong" / "doc").rglob("*.*"):
            archive.write(file, file.relative_to(FIXTURES / "loong"))
    said = convert("loong", tmp_path / "Loong", tmp_path / "data")
    assert load_benchmark("loong", tmp_path / "data" / "loong") == load_benchmark("loong", FIXTURES / "loong")
    assert any("of 323" in line for line in said)


def test_asqa_is_converted_from_alces_files_also_if_passages_have_no_ids(tmp_path: Path) -> None:
    rows = json.loads((FIXTURES / "asqa" / "asqa_eval_pooled.json").read_text("utf-8"))
    for doc in (doc for row in rows for doc in row["docs"]):
        del doc["id"]
    (tmp_path / "ALCE-data").mkdir()
    (tmp_path / "ALCE-data" / "asqa_eval_gtr_top100.json").write_text(json.dumps(rows), "utf-8")
    convert("asqa", tmp_path, tmp_path / "data")
    found = load_benchmark("asqa-pooled", tmp_path / "data" / "asqa" / "asqa_eval_pooled.json")
    official = load_benchmark("asqa-pooled", FIXTURES / "asqa" / "asqa_eval_pooled.json")
    assert [s.short_answers for s in found.samples] == [s.short_answers for s in official.samples]
    assert {d.text for d in found.documents.values()} == {d.text for d in official.documents.values()}


def test_what_cannot_be_converted_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "test.json").write_text('[{"paper": "a", "news": "b"}]', "utf-8")
    with pytest.raises(DataError, match=r"no entry has DOI, Citation, Paper_Body, News_Body, Topic\."):
        convert("scinews", tmp_path / "test.json", tmp_path)
    (tmp_path / "asqa_eval_x.json").write_text('[{"sample_id": "1"}]', "utf-8")
    with pytest.raises(DataError, match="Use ALCE's file"):
        convert("asqa", tmp_path, tmp_path)
    with pytest.raises(MissingPathError, match=r"has no loong\.jsonl"):
        convert("loong", tmp_path, tmp_path)
    with pytest.raises(MissingPathError, match="nowhere does not exist"):
        convert("loong", tmp_path / "nowhere", tmp_path)
    with pytest.raises(ConfigError, match="Converted are loong, asqa, scinews"):
        convert("qasper", tmp_path, tmp_path)
