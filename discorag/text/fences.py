"""Quoted text between tags in a prompt: the text is not changed, and it does not contain its own tag."""

import re
from collections.abc import Iterable


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
