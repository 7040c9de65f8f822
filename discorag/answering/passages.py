"""Passages as a model reads them: numbered, named as a reader would name them, and fenced without changing the text."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from discorag.generation.narrowing import shown_text
from discorag.models.protocol import TokenCounter
from discorag.schema.document import Chunk
from discorag.text.escaping import one_line

_NAME_LENGTH = 160
_NUMBERED = re.compile(
    r"(?:source|doc|document|file|page|chunk|passage|text|untitled|article|id|item|part)?[-_ ]*\d*", re.IGNORECASE
)
_FILE_WORD = re.compile(r"(?<![^\W_])(?:(?:19|20)\d\d|[^\W\d_]{3,})(?![^\W_])")
"""A year, or a word of three letters or more, in a file's name."""
_RUN = re.compile(r"[A-Za-z0-9]{8,}")
_MARGIN, _BYTES_PER_TOKEN = 1.1, 4
"""The encoder's tokens are not the model's: so much more, and not fewer than the text's bytes by the second figure."""


def source_name(chunk: Chunk) -> str:
    """What a reader calls the passage's source: title, headings, author and date, as far as they can be read.

    >>> from discorag.schema.values import Span
    >>> span = Span(start=0, end=1)
    >>> chunk = Chunk(id="", doc_id="", order=0, span=span, text="x", sentences=(span,), title="source-3")
    >>> source_name(chunk)
    ''
    >>> source_name(chunk.model_copy(update={"title": "Tides", "headings": ("Tides", "Spring")}))
    'Tides › Spring'
    """
    titles = [one_line(name, _NAME_LENGTH) for name in (chunk.title, *chunk.headings)]
    readable = list(dict.fromkeys(title for title in titles if _is_readable(title)))
    version = _version(chunk)
    place = " › ".join(readable) + (f" ({version})" if version else "")
    return ", ".join(part for part in (place, *(one_line(value, _NAME_LENGTH) for value in chunk.byline)) if part)


def _version(chunk: Chunk) -> str:
    """What a path says of a document that shares its title with others: its folders, and words that are new."""
    if not chunk.source.endswith(f": {chunk.title}"):
        return ""
    *folders, file = chunk.source.removesuffix(f": {chunk.title}").split("/")
    known = chunk.title.casefold()
    new = [w for w in _FILE_WORD.findall(Path(file).stem) if w.casefold() not in known]
    return one_line("/".join([*folders, *([" ".join(new)] if new else [])]), _NAME_LENGTH)


def _is_readable(name: str) -> bool:
    """Whether a name tells a reader something: it is not a number, a hash, or the like of ``source-3``."""
    if _NUMBERED.fullmatch(name.strip()):
        return False
    return not any(_is_hash(run) for run in _RUN.findall(name)) or " " in name.strip()


def _is_hash(run: str) -> bool:
    digits, changes = sum(map(str.isdigit, run)), len(re.findall(r"[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]", run))
    return changes >= 4 or (digits >= 4 and changes >= 2 and len(run) >= 12)


def fence_name(word: str, texts: Iterable[str]) -> str:
    """A tag that none of the texts has: ``word``, else ``word-2`` and so on."""
    held, tag, number = "\n".join(texts).casefold(), word, 1
    while re.search(rf"<\s*/?\s*{re.escape(tag)}", held):
        number += 1
        tag = f"{word}-{number}"
    return tag


def fenced(word: str, text: str) -> str:
    """The text, unchanged, between tags that it does not have."""
    tag = fence_name(word, [text])
    return f"<{tag}>\n{text}\n</{tag}>"


def passage_blocks(chunks: Sequence[Chunk], numbers: Sequence[int] | None = None) -> list[str]:
    """Each chunk between tags that no chunk has, with its number (from 1, unless given) and its source's name."""
    numbers = numbers or range(1, len(chunks) + 1)
    shown = [_shown(chunk) for chunk in chunks]
    tag = fence_name("passage", shown)
    return [f"<{tag} {n}>\n{text}\n</{tag} {n}>" for n, text in zip(numbers, shown, strict=True)]


def _shown(chunk: Chunk) -> str:
    name, columns = source_name(chunk), one_line(chunk.columns, 4 * _NAME_LENGTH)
    about = [f"Source: {name}"] * bool(name) + [f"Continues: {columns}"] * bool(columns)
    return "\n".join([*about, shown_text(chunk)])


def count_tokens(counter: TokenCounter, texts: Sequence[str]) -> list[int]:
    """An estimate of the model's tokens of each text that is rather too high."""
    counted = counter.token_offsets(list(texts))
    return [
        max(round(_MARGIN * len(tokens)), len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN) + 1
        for tokens, text in zip(counted, texts, strict=True)
    ]
