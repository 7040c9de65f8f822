"""A model's reply: without its thinking, and its JSON object, whole or in pieces."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_CLOSED = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_OPENED = re.compile(r"<(?:think|thinking|reasoning)>.*\Z", re.DOTALL | re.IGNORECASE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


def without_thinking(text: str) -> str:
    """The reply after the model's thinking, whose opening tag may be missing; "" if it only thinks."""
    return _OPENED.sub("", _CLOSED.sub("", _THOUGHT.sub("", text))).strip()


def json_object(text: str, key: str) -> dict[str, Any]:
    """The JSON object that has ``key``, wherever it is in a reply; trailing commas are forgiven.

    Raises:
        ValueError: There is none.
    """
    answer = without_thinking(text)
    for candidate in (answer, _STRING.sub(lambda m: "" if m[0] == "," else m[0], answer)):
        for found in _objects(candidate):
            if key in found:
                return found
    raise ValueError(f'The reply has no JSON object with "{key}". Write that object and nothing else.')


def _objects(text: str) -> Iterator[dict[str, Any]]:
    at = text.find("{")
    while at >= 0:
        try:
            found, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            found, end = None, at + 1
        if isinstance(found, dict):
            yield cast("dict[str, Any]", found)
        at = text.find("{", end)


def whole_items(text: str, key: str) -> str:
    """A JSON object of the items that are whole in the list ``key`` of a reply that was cut off.

    Raises:
        ValueError: No item is whole.
    """
    answer = without_thinking(text)
    opened = re.search(rf'"{key}"\s*:\s*\[', answer)
    items = list(_items(answer, opened.end())) if opened else []
    if not items:
        raise ValueError(f'The reply was cut off before an item of "{key}" was complete.')
    return json.dumps({key: items}, ensure_ascii=False)


class ItemStream:
    """The items of the list ``key`` in a reply that comes in pieces, each as soon as it is whole."""

    def __init__(self, key: str) -> None:
        self._opening, self._text, self._count = re.compile(rf'"{key}"\s*:\s*\['), "", 0

    def push(self, piece: str) -> list[Any]:
        """The items that ``piece`` completes."""
        self._text += piece
        said = without_thinking(self._text) if "}" in piece else ""
        opened = self._opening.search(said)
        items = list(_items(said, opened.end())) if opened else []
        new, self._count = items[self._count :], max(self._count, len(items))
        return new


def _items(text: str, at: int) -> Iterator[Any]:
    while match := re.compile(r"[\s,]*(?=\{)").match(text, at):
        try:
            item, at = _DECODER.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            return
        yield item
