"""What a reader calls the source of a passage."""

import re
from pathlib import Path

from discorag.schema.document import Chunk
from discorag.text.escaping import one_line

NAME_LENGTH = 160
"""Most characters of a title, a heading or an author."""
_NUMBERED = re.compile(
    r"(?:source|doc|document|file|page|chunk|passage|text|untitled|article|id|item|part)?[-_ ]*\d*", re.IGNORECASE
)
_FILE_WORD = re.compile(r"(?<![^\W_])(?:(?:19|20)\d\d|[^\W\d_]{3,})(?![^\W_])")
"""A year, or a word of three letters or more, in a file's name."""
_RUN = re.compile(r"[A-Za-z0-9]{8,}")


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
    titles = [one_line(name, NAME_LENGTH) for name in (chunk.title, *chunk.headings)]
    readable = list(dict.fromkeys(title for title in titles if _is_readable(title)))
    version = _version(chunk)
    place = " › ".join(readable)
    place = f"{place} ({version})" if place and version else place or version
    return ", ".join(part for part in (place, *(one_line(value, NAME_LENGTH) for value in chunk.byline)) if part)


def _version(chunk: Chunk) -> str:
    """What a path says of a document that shares its title with others: its folders, and words that are new."""
    if not chunk.source.endswith(f": {chunk.title}"):
        return ""
    *folders, file = chunk.source.removesuffix(f": {chunk.title}").split("/")
    known = chunk.title.casefold()
    new = [w for w in _FILE_WORD.findall(Path(file).stem) if w.casefold() not in known]
    return one_line("/".join([*folders, *([" ".join(new)] if new else [])]), NAME_LENGTH)


def _is_readable(name: str) -> bool:
    """Whether a name tells a reader something: it is not a number, a hash, or the like of ``source-3``."""
    if _NUMBERED.fullmatch(name.strip()):
        return False
    return not any(_is_hash(run) for run in _RUN.findall(name)) or " " in name.strip()


def _is_hash(run: str) -> bool:
    digits, changes = sum(map(str.isdigit, run)), len(re.findall(r"[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]", run))
    return changes >= 4 or (digits >= 4 and changes >= 2 and len(run) >= 12)
