"""SciNews (Pu et al. 2024): scientific papers with news reports about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import RootModel

from discorag.types.errors import ConfigError
from eval.datasets.lay_summaries import study_query
from eval.datasets.reading import TextBuilder, checked, normal, read_json, unique
from eval.errors import DataError
from eval.sample import Benchmark, Sample, SourceDocument

_INSTRUCTION = (
    "Write a news report about the study in several paragraphs, for readers without background in the field: "
    "what was asked, how it was studied, what was found, and why it matters."
)

FIELDS: Mapping[str, str] = MappingProxyType(
    {"id": "DOI", "title": "Citation", "paper": "Paper_Body", "news": "News_Body", "topic": "Topic"}
)
"""What the loader reads -> the field's name in the file."""


class _Rows(RootModel[tuple[dict[str, Any], ...]]):
    pass


def load_scinews(path: Path, fields: Mapping[str, str] = FIELDS) -> Benchmark:
    """One question for each paper: the news report about it.

    Papers are named by their citation: the file has no paper titles, and the report's headline gives the news away.

    Args:
        path: List of entries, one paper each.
        fields: Names in the file that differ from `FIELDS`, e.g. ``{"paper": "Body"}``.

    Raises:
        MissingPathError: No such file.
        ConfigError: ``fields`` renames something that is not read.
        DataError: The file is cut off, a field is missing (named as in the file), or an id repeats.
    """
    if unknown := sorted(set(fields) - set(FIELDS)):
        raise ConfigError(f"fields: {unknown[0]!r} is not read.", hint=f"Rename some of {', '.join(FIELDS)}.")
    names = {**FIELDS, **fields}
    rows = checked(_Rows, read_json(path), str(path)).root
    entries = [_texts(row, names, f"{path}: entry {number}") for number, row in enumerate(rows)]
    samples = unique(map(_sample, entries), path)
    return Benchmark(name="scinews", documents={entry["id"]: _document(entry) for entry in entries}, samples=samples)


def _texts(row: dict[str, Any], names: Mapping[str, str], place: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for role, name in names.items():
        value = row.get(name)
        if not isinstance(value, str) or not value.strip():
            raise DataError(f"{place}: {name}: not a text.", hint="Tell the loader the file's own names in `fields`.")
        texts[role] = normal(value)
    return texts


def _sample(texts: dict[str, str]) -> Sample:
    return Sample(
        id=texts["id"],
        query=study_query(texts["title"]),
        instruction=_INSTRUCTION,
        documents=(texts["id"],),
        references=(texts["news"],),
        strata={"topic": texts["topic"]},
    )


def _document(texts: dict[str, str]) -> SourceDocument:
    builder = TextBuilder()
    builder.add(f"# {texts['title']}")
    builder.add(texts["paper"])
    return builder.document(texts["id"], texts["title"])
