"""Loong (Wang et al. 2024): questions over many long documents; official ``loong.jsonl`` and ``doc/``."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, Field

from discorag.schema.values import Span
from eval.datasets.reading import normal, read_json, read_lines, read_text, unique
from eval.errors import DataError
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_MAX_WORDS = 180
_MAX_CHARACTERS = 200

_VERDICTS = "阅读以上判决文书，我将给你若干份判决结果"
"""How a question begins that has verdicts matched to judgments: they must not stand in the judgments."""
_LEGAL = "legal questions (doc/legal/legal.json is missing)"
_SHORTENED = "questions shortened to the encoder's window"
_NO_SPAN = "spotlight answers whose number is in no document"

_Answer: TypeAlias = str | dict[str, Any] | list[Any]


class _Question(BaseModel):
    id: str
    level: int = Field(ge=1, le=4)
    set: int = Field(ge=1, le=4)
    type: Literal["financial", "paper", "legal"]
    language: Literal["en", "zh"]
    question: str
    instruction: str
    prompt_template: str
    doc: tuple[str, ...] = Field(min_length=1)
    answer: _Answer


class _Judgment(BaseModel):
    content: str
    result: str


def load_loong(folder: Path) -> Benchmark:
    """All questions of Loong; the legal ones if ``doc/legal/legal.json`` is there.

    Levels: 1 spotlight locating, 2 comparison, 3 clustering, 4 chain of reasoning. Sets: 1 (10-50K tokens) to 4
    (over 200K). Names of documents are resolved as the official prompt builder does: a paper by its file name, a filing
    by the first file whose name ends in ``2024-{name}*.txt`` (level 4: ``{name}*.txt``). Papers of level 4 have no
    question: their query is the instruction's task without its list of requirements. A query of more than 180 words
    (Chinese: 200 characters) is cut for the encoder's window, and the rest goes into the instruction. A spotlight
    answer's evidence is wherever its number (the question's number, if the answer is a company) stands in the filing
    of the company it is about.

    Legal questions call judgments by their places, so the instruction says which judgment has which place. A judgment
    is its text and its verdict; without the verdict where verdicts are to be matched to judgments (the official code
    means to leave it out too, but looks for the marker in the instruction, where it never stands).

    Args:
        folder: Holds ``loong.jsonl``, ``doc/{financial,paper}/`` and, for legal questions, ``doc/legal/legal.json``.

    Raises:
        MissingPathError: No ``loong.jsonl`` in the folder.
        DataError: A line is cut off, lacks a field or repeats an id, or a document is missing.
    """
    path = folder / "loong.jsonl"
    library = _Library(folder)
    dropped: Counter[str] = Counter()
    samples: list[Sample] = []
    for place, question in read_lines(_Question, path):
        if question.type == "legal" and library.judgments is None:
            dropped[_LEGAL] += 1
        else:
            samples.append(_sample(question, library.documents_of(question, place), dropped))
    return Benchmark(name="loong", documents=library.documents, samples=unique(samples, path), dropped=dict(dropped))


class _Library:
    """Loong's documents by file name, each read once; equal texts share the first one's id."""

    def __init__(self, folder: Path) -> None:
        self.documents: dict[str, SourceDocument] = {}
        self._root = folder / "doc"
        legal = self._root / "legal" / "legal.json"
        self.judgments = read_json(dict[str, _Judgment], legal) if legal.is_file() else None
        self._filings = sorted(file.name for file in (self._root / "financial").glob("*.txt"))
        self._by_file: dict[str, SourceDocument] = {}
        self._by_text: dict[str, SourceDocument] = {}

    def documents_of(self, question: _Question, place: str) -> tuple[SourceDocument, ...]:
        """The question's documents, in the order of its ``doc``."""
        if question.type == "legal":
            return tuple(self._judgment(question, name, place) for name in question.doc)
        return tuple(self._read(self._resolve(question, name, place), f"{place}: doc") for name in question.doc)

    def _resolve(self, question: _Question, name: str, place: str) -> str:
        if question.type == "paper":
            return f"paper/{name}"
        key = name if question.level == 4 else f"2024-{name}"
        file = next((file for file in self._filings if key in file.removesuffix(".txt")), None)
        if file is None:
            raise DataError(
                f"{place}: doc: no file in {self._root / 'financial'} is named like *{key}*.txt.",
                hint="Is the document folder complete?",
            )
        return f"financial/{file}"

    def _read(self, file: str, place: str) -> SourceDocument:
        if file not in self._by_file:
            path = self._root / file
            if not path.is_file():
                raise DataError(f"{place}: {path} does not exist.", hint="Is the document folder complete?")
            text = normal(read_text(path).removeprefix("\ufeff"))
            if not text:
                raise DataError(f"{place}: {path} is empty.", hint="Fetch the official file again.")
            line = text.split("\n", 1)[0].replace("<br>", " ").lstrip("# ")
            title = " ".join(line.split()) if path.suffix == ".md" else path.stem
            self._by_file[file] = self._add(SourceDocument(id=path.name, title=title, text=text))
        return self._by_file[file]

    def _judgment(self, question: _Question, name: str, place: str) -> SourceDocument:
        judgment = (self.judgments or {}).get(name)
        if judgment is None:
            raise DataError(f"{place}: doc: legal.json has no {name}.", hint="Is the document folder complete?")
        blind = question.level == 4 and _VERDICTS in question.question + question.instruction
        text = normal(judgment.content if blind else judgment.content + judgment.result)
        if not text:
            raise DataError(f"{place}: doc: {name} is empty in legal.json.", hint="Fetch the official file again.")
        return self._add(SourceDocument(id=f"{name} (no verdict)" if blind else name, title=name, text=text))

    def _add(self, document: SourceDocument) -> SourceDocument:
        """The document, or an earlier one with the same text."""
        document = self._by_text.setdefault(document.text, document)
        self.documents[document.id] = document
        return document


def _sample(question: _Question, documents: Sequence[SourceDocument], dropped: Counter[str]) -> Sample:
    query, instruction = _split(question)
    if instruction != question.instruction:
        dropped[_SHORTENED] += 1
    if question.type == "legal":
        instruction += "\n\n" + "\n".join(f"《判决文书{i}》: {name}" for i, name in enumerate(question.doc, start=1))
    numbers = _numbers(question)
    gold = _gold(numbers, _asked_about(question, documents))
    if question.level == 1 and question.type == "financial" and not gold:
        dropped[_NO_SPAN] += 1
    return Sample(
        id=question.id,
        query=query,
        instruction=instruction,
        documents=tuple(dict.fromkeys(document.id for document in documents)),
        references=(str(question.answer),),  # as the official code puts it into the judge's prompt
        short_answers=_short_answers(question, numbers),
        gold=gold,
        strata={name: str(getattr(question, name)) for name in ("level", "set", "type", "language")},
        prompt=_prompt(question),
    )


def _split(question: _Question) -> tuple[str, str]:
    """The query and the instruction."""
    asked = question.question.strip()
    query, rest = _shorten(asked or _task(question.instruction) or question.instruction, question.language)
    return query, f"{question.instruction}\n\n{rest}" if asked and rest else question.instruction


def _task(instruction: str) -> str:
    """What an instruction asks for: its text before the requirements, without headings."""
    lines = instruction.partition("#Specific Requirements")[0].split("\n")
    return " ".join(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def _shorten(question: str, language: str) -> tuple[str, str]:
    """The question as far as it fits the encoder's window of 256 tokens, and the rest."""
    if language == "zh":
        return question[:_MAX_CHARACTERS], question[_MAX_CHARACTERS:]
    words = question.split()
    if len(words) <= _MAX_WORDS:
        return question, ""
    return " ".join(words[:_MAX_WORDS]), " ".join(words[_MAX_WORDS:])


def _prompt(question: _Question) -> str:
    """The filled template as the official judge sees it: without ``{docs}``, which only papers keep literally."""
    docs = "{docs}" if question.type == "paper" else ""
    prompt = question.prompt_template.replace("{docs}", docs)
    return prompt.replace("{instruction}", question.instruction).replace("{question}", question.question)


# --- spotlight questions --------------------------------------------------------------------------


def _numbers(question: _Question) -> list[str]:
    """The numbers that a spotlight question is about: its answer's, or its own if the answer is a company."""
    if question.level != 1 or question.type == "legal" or not isinstance(question.answer, str):
        return []
    names_company = question.answer in question.doc
    return _NUMBER.findall(question.question if names_company else question.answer)


def _short_answers(question: _Question, numbers: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    if question.level != 1 or question.type == "legal" or not isinstance(question.answer, str):
        return ()
    if question.answer in question.doc:
        return ((question.answer,),)
    return (tuple(dict.fromkeys((question.answer, *numbers[:1]))),)


def _asked_about(question: _Question, documents: Sequence[SourceDocument]) -> Sequence[SourceDocument]:
    """The filing of the company named in the question or its answer; all documents if none is named."""
    text = f"{question.question} {question.answer}".casefold()
    named = [pair for pair in zip(question.doc, documents, strict=True) if pair[0].casefold() in text]
    return [max(named, key=lambda pair: len(pair[0]))[1]] if named else documents


def _gold(numbers: Sequence[str], documents: Sequence[SourceDocument]) -> tuple[Gold, ...]:
    found: list[Gold] = []
    for number in dict.fromkeys(numbers):
        whole = re.compile(rf"(?<![\d.,]){re.escape(number)}(?!\d|[.,]\d)")
        places = tuple(
            DocSpan(doc=document.id, span=Span(start=match.start(), end=match.end()))
            for document in documents
            for match in whole.finditer(document.text)
        )
        if places:
            found.append(Gold(label=number, anywhere=places))
    return tuple(found)
