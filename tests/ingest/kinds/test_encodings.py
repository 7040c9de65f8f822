"""Text in an old encoding is read as it was written, or refused with the encodings that it may be in."""

from pathlib import Path

import pytest

from discorag.ingest.convert.encoding import ENCODING
from discorag.ingest.loaders import load, reading_note
from discorag.schema.document import Document
from discorag.schema.errors import DecodingError
from tests.ingest.kinds.quotes import LIMIT

SENTENCES = [
    ("cp1252", "Le magasin n’est ouvert qu’à partir de neuf heures même en été."),
    ("cp1252", "Die Prüfung muss jährlich für 5 € wiederholt werden – sonst ist sie ungültig."),
    ("iso-8859-1", "La reunión empieza a las nueve de la mañana según el señor Núñez."),
    ("cp1251", "Магазин открыт с девяти часов утра."),
    ("koi8-r", "Магазин открыт с девяти часов утра."),
    ("iso-8859-5", "Магазин открыт с девяти часов утра."),
    ("cp1250", "Žádost musí být podána do šesti týdnů od doručení."),
    ("iso-8859-2", "Żądanie zostało przerwane bez dalszej weryfikacji użytkownika."),
    ("iso-8859-7", "Το κατάστημα ανοίγει στις εννέα το πρωί."),
    ("iso-8859-9", "Mağaza sabah dokuzda açılır ve akşam yedide kapanır."),
    ("shift_jis", "店は朝の九時に開きます。"),
    ("euc-jp", "店は朝の九時に開きます。"),
    ("gb18030", "商店早上九点开门，晚上七点关门。"),
    ("big5", "商店早上九點開門，晚上七點關門。"),
    ("euc-kr", "가게는 아침 아홉 시에 문을 엽니다."),
]
FILES = {
    "a.txt": "{}\n",
    "a.md": "# Notes\n\n{}\n",
    "a.csv": "number,text\n1,{}\n",
    "a.rst": "Notes\n=====\n\n{}\n",
    "a.html": "<html><body><p>{}</p></body></html>",
}


def read(path: Path, data: bytes) -> Document:
    """The document of a file with these bytes."""
    path.write_bytes(data)
    return load(path, max_bytes=LIMIT)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("encoding", "sentence"), SENTENCES, ids=[f"{e}-{s[:5]}" for e, s in SENTENCES])
def test_one_sentence_is_enough_to_tell_the_encoding(tmp_path: Path, name: str, encoding: str, sentence: str) -> None:
    """The result says what was assumed."""
    document = read(tmp_path / name, FILES[name].format(sentence).encode(encoding))
    assert sentence in document.text
    assert str(document.metadata[ENCODING]) in reading_note(document)


@pytest.mark.parametrize("name", FILES)
def test_utf8_is_nothing_to_speak_of(tmp_path: Path, name: str) -> None:
    """Neither in the metadata nor in the note."""
    document = read(tmp_path / name, FILES[name].format("Żądanie 店は朝の九時 été").encode())
    assert (document.metadata.get(ENCODING), reading_note(document)) == (None, "")


def test_the_declared_encoding_of_a_page_wins(tmp_path: Path) -> None:
    """Even where another one is likelier."""
    page = '<meta charset="koi8-r"><p>Магазин открыт с девяти часов утра.</p>'.encode("cp1251")
    document = read(tmp_path / "a.html", page)
    assert document.text == page.decode("koi8-r").split("<p>")[1].removesuffix("</p>")
    assert ENCODING not in document.metadata


def test_a_page_that_names_an_encoding_that_it_is_not_in_is_read_as_what_it_is(tmp_path: Path) -> None:
    """Servers often say UTF-8 of everything."""
    page = '<meta charset="utf-8"><p>Магазин открыт с девяти часов утра.</p>'.encode("cp1251")
    document = read(tmp_path / "a.html", page)
    assert (document.text, document.metadata) == ("Магазин открыт с девяти часов утра.", {ENCODING: "windows-1251"})


@pytest.mark.parametrize("text", ["café", "Price: 5 €", "20 °C, 5 µm", "“Café noir” à Nîmes", "naïve – £5"])
def test_single_letters_above_ascii_are_western(tmp_path: Path, text: str) -> None:
    """A few words tell no language; an English text with one such letter is the usual case."""
    assert read(tmp_path / "a.txt", text.encode("cp1252")).text == text


def test_what_cannot_be_told_is_refused_with_the_likeliest_encodings(tmp_path: Path) -> None:
    """Two letters may be anything."""
    with pytest.raises(DecodingError, match=r"WINDOWS-1251 or .*iconv -f"):
        read(tmp_path / "a.txt", "Да".encode("cp1251"))


@pytest.mark.parametrize("text", ["Größe und Länge\n", "Это текст на русском языке.\n", "潮汐每天涨落两次。\n"])
def test_damaged_utf8_is_no_other_encoding(tmp_path: Path, text: str) -> None:
    """One bad byte does not make Ã¶ of every ö."""
    with pytest.raises(DecodingError, match=r"not UTF-8: invalid byte 0xff.*iconv -c"):
        read(tmp_path / "a.txt", text.encode() * 20 + b"\xff")
