"""reStructuredText to Markdown: docutils writes it as HTML, and our converter of HTML reads that."""

from dataclasses import replace
from pathlib import Path

from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.encoding import decode_text
from discorag.ingest.convert.html import LIBRARIES as HTML_LIBRARIES
from discorag.ingest.convert.html import from_markup
from discorag.schema.errors import DecodingError, DiscoRagError

LIBRARIES = ("docutils", *HTML_LIBRARIES)


def from_rst(data: bytes, path: Path) -> Converted:
    """The text that a reader of the rendered file sees. Nothing outside of the file is read.

    Comments, targets and options are left out; a table or directive with an error is a block of code, as it is written.

    Raises:
        DecodingError: It is not text, or docutils cannot read it.
    """
    from discorag.ingest.convert.rst_reader import html_of

    source = decode_text(data, path)
    try:
        html, title, unread = html_of(source.text)
        page = from_markup(html, path)
    except (DiscoRagError, MemoryError):
        raise
    except Exception as error:  # docutils raises whatever it meets
        raise DecodingError(
            f"{path} cannot be read as reStructuredText: {type(error).__name__}.",
            hint="Check it with docutils, or name it .txt to have it read as it stands.",
        ) from error
    return replace(page, title=title, metadata=source.metadata, unread=unread + page.unread)
