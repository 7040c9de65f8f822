"""Reading rs3 as GUM's trees are binarised, and the corpora that are in it."""

from pathlib import Path

import pytest

from discorag.discourse.formats.rs3 import raw_rs3
from discorag.schema.errors import ConfigError
from training.parser.corpora import load_gcdt, load_training, load_umuc
from training.parser.gum import gold_splits

_HEAD = """<rst><header><relations><rel name="joint" type="multinuc"/><rel name="causal" type="rst"/>
<rel name="attribution" type="rst"/></relations></header><body>"""
_SPEECH = f"""{_HEAD}
<segment id="1" parent="10" relname="attribution">He said ,</segment>
<segment id="2" parent="10" relname="joint">that it rains</segment>
<segment id="3" parent="10" relname="joint">and that it ( really ) pours .</segment>
<segment id="4" parent="11" relname="causal">It is autumn .</segment>
<group id="10" type="multinuc" parent="11" relname="span"/><group id="11" type="span"/></body></rst>"""


def test_labels_are_kept_satellites_join_from_the_nearest_and_nuclei_to_the_right():
    texts, cuts = raw_rs3(_SPEECH)
    assert len(texts) == 4
    assert [(s.start, s.mid, s.end, s.nuclearity.value, s.label) for s in gold_splits(cuts)] == [
        (0, 3, 4, "NS", "causal"),
        (0, 1, 3, "SN", "attribution"),
        (1, 2, 3, "NN", "joint"),
    ]


def test_units_are_joined_as_people_write(tmp_path: Path):
    (tmp_path / "RST_GUM-relations").mkdir()
    (tmp_path / "RST_GUM-relations" / "speech.rs3").write_text(_SPEECH, encoding="utf-8")
    [document] = load_umuc(tmp_path)
    assert document.text == "He said, that it rains and that it (really) pours. It is autumn."
    assert [document.text[s.start : s.end] for s in document.sentences][1:] == ["It is autumn."]


def test_texts_of_wikihow_are_left_out(tmp_path: Path):
    for part, name in (("train", "gcdt_whow_tea"), ("dev", "gcdt_news_tea"), ("test", "gcdt_bio_tea")):
        (tmp_path / part).mkdir()
        (tmp_path / part / f"{name}.rs3").write_text(_SPEECH, encoding="utf-8")
    found = load_gcdt(tmp_path)
    assert [d.id for d in found] == ["GCDT_gcdt_news_tea", "GCDT_gcdt_bio_tea"]
    assert not any(d.segmented for d in found)


def test_a_folder_without_files_says_so(tmp_path: Path):
    with pytest.raises(ConfigError, match="no rs3 files"):
        load_umuc(tmp_path)


def test_an_unknown_corpus_names_those_that_there_are(tmp_path: Path):
    with pytest.raises(ConfigError, match="no corpus ptb") as caught:
        load_training(tmp_path, "gum,ptb", 1.0, "promoted")
    assert "umuc" in (caught.value.hint or "")
