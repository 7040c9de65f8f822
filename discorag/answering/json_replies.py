"""The JSON object in a model's reply: whole, cut off, or while the reply comes in pieces."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from discorag.text.replies import json_in

_DECODER = json.JSONDecoder(strict=False)
_NEXT = re.compile(r"[\s,]*(?=\{)")


def json_object(text: str, key: str) -> dict[str, Any]:
    """The JSON object that has ``key``, wherever it is in a reply; one that is not quite JSON is repaired.

    Raises:
        ValueError: The reply has no such object.
    """
    for repaired in (str, json_in):
        if found := object_in(repaired(text), key):
            return found[0]
    raise ValueError(f'The reply has no JSON object with "{key}". Write that object and nothing else.')


def object_in(text: str, key: str) -> tuple[dict[str, Any], int] | None:
    """The first object with ``key`` that is JSON as it stands, and where it ends."""
    at = text.find("{")
    while at >= 0:
        try:
            found, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            found, end = None, at + 1
        if isinstance(found, dict) and key in found:
            return cast("dict[str, Any]", found), end
        at = text.find("{", end)
    return None


def whole_items(text: str, key: str) -> str:
    """A JSON object of the items that are whole in the list ``key`` of a reply that was cut off.

    Raises:
        ValueError: No item is whole.
    """
    items = ItemStream(key).push(text)
    if not items:
        raise ValueError(f'The reply was cut off before an item of "{key}" was complete.')
    return json.dumps({key: items}, ensure_ascii=False)


class ItemStream:
    """The items of the list ``key`` in a reply that comes in pieces, each as soon as it is whole."""

    def __init__(self, key: str) -> None:
        self._opening, self._text, self._at = re.compile(rf'"{key}"\s*:\s*\['), "", 0

    def push(self, piece: str) -> list[Any]:
        """The items that ``piece`` completes."""
        self._text += piece
        if "}" not in piece:
            return []
        if not self._at and (opened := self._opening.search(self._text)):
            self._at = opened.end()
        return list(self._items()) if self._at else []

    def _items(self) -> Iterator[Any]:
        while match := _NEXT.match(self._text, self._at):
            try:
                item, self._at = _DECODER.raw_decode(self._text, match.end())
            except (ValueError, RecursionError):
                return
            yield item
