"""Passages as a model reads them: numbered, named as a reader would name them, and fenced without changing the text."""

from collections.abc import Sequence

from discorag.generation.narrowing import shown_text
from discorag.models.protocol import TokenCounter
from discorag.schema.document import Chunk
from discorag.text.escaping import one_line
from discorag.text.fences import fence_name
from discorag.text.sources import NAME_LENGTH, source_name

_MARGIN, _BYTES_PER_TOKEN = 1.1, 4
"""The encoder's tokens are not the model's: so much more, and not fewer than the text's bytes by the second figure."""

CONTINUES = "Continues:"
"""Begins the line before a passage that has the header row of its table, or the speaker of its turn."""


def passage_blocks(chunks: Sequence[Chunk], numbers: Sequence[int] | None = None) -> list[str]:
    """Each chunk between tags that no chunk has, with its number (from 1, unless given) and its source's name."""
    numbers = numbers or range(1, len(chunks) + 1)
    shown = [_shown(chunk) for chunk in chunks]
    tag = fence_name("passage", shown)
    return [f"<{tag} {n}>\n{text}\n</{tag} {n}>" for n, text in zip(numbers, shown, strict=True)]


def _shown(chunk: Chunk) -> str:
    name, continued = source_name(chunk), continued_line(chunk)
    about = [f"Source: {name}"] * bool(name) + [f"{CONTINUES} {continued}"] * bool(continued)
    return "\n".join([*about, shown_text(chunk)])


def continued_line(chunk: Chunk) -> str:
    """The header row or speaker that is shown before a passage which begins inside a table or turn; else empty."""
    return one_line(chunk.columns, 4 * NAME_LENGTH)


def count_tokens(counter: TokenCounter, texts: Sequence[str]) -> list[int]:
    """An estimate of the model's tokens of each text that is rather too high."""
    counted = counter.token_offsets(list(texts))
    return [
        max(round(_MARGIN * len(tokens)), len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN) + 1
        for tokens, text in zip(counted, texts, strict=True)
    ]
