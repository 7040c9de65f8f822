"""SciNews (Pu et al. 2024): scientific papers with news reports about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import RootModel

from discorag.schema.errors import ConfigError
from eval.datasets.lay_summaries import study_query
from eval.datasets.reading import TextBuilder, checked, normal, read_json
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

    Papers are named by their citation: the file has no paper titles, and the report's headline gives the news away. An
    entry that lacks a value, or whose id came before, is left out and counted.

    Args:
        path: List of entries, one paper each.
        fields: Names in the file that differ from `FIELDS`, e.g. ``{"paper": "Body"}``.

    Raises:
        MissingPathError: No such file.
        ConfigError: ``fields`` renames something that is not read.
        DataError: The file is cut off, or no entry has a field of a name that is read.
    """
    if unknown := sorted(set(fields) - set(FIELDS)):
        raise ConfigError(f"fields: {unknown[0]!r} is not read.", hint=f"Rename some of {', '.join(FIELDS)}.")
    names = {**FIELDS, **fields}
    rows = checked(_Rows, read_json(path), str(path)).root
    if absent := [name for name in names.values() if not any(name in row for row in rows)]:
        raise DataError(
            f"{path}: no entry has a field {absent[0]}.",
            hint="Tell the file's own names in `fields` of the suite, or with --field, e.g. --field paper=Body.",
        )
    dropped: Counter[str] = Counter()
    entries = list(_entries(rows, names, dropped))
    documents = {entry["id"]: _document(entry) for entry in entries}
    return Benchmark(name="scinews", documents=documents, samples=tuple(map(_sample, entries)), dropped=dict(dropped))


def _entries(
    rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], dropped: Counter[str]
) -> Iterator[dict[str, str]]:
    """The entries that are whole, texts by role; what is left out is counted by the field that is to blame."""
    seen: set[str] = set()
    for row in rows:
        values = {role: row.get(name) for role, name in names.items()}
        texts = {role: normal(value) for role, value in values.items() if isinstance(value, str) and value.strip()}
        if lacking := [names[role] for role in names if role not in texts]:
            dropped[f"entries without {lacking[0]}"] += 1
        elif texts["id"] in seen:
            dropped[f"entries whose {names['id']} came before"] += 1
        else:
            seen.add(texts["id"])
            yield texts


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
