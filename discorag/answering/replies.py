"""A model's reply: without its thinking, its JSON object, and its citations in the one form that is read."""

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


_BLOCK = re.compile(r"\A```[^\n]*\n(.*?)\n?```\Z", re.DOTALL)


def prose_of(text: str) -> str:
    r"""The prose in a reply: without thinking, out of a block of code, out of a JSON object like ``{"answer": ...}``.

    >>> prose_of('```json\n{"answer": "It is dry [1]."}\n```')
    'It is dry [1].'
    """
    said = without_thinking(text)
    block = _BLOCK.match(said)
    said = block[1].strip() if block else said
    if said.startswith("{") and said.endswith("}"):
        for found in _objects(said):
            words = [
                value
                for name, value in found.items()
                if isinstance(value, str) and (name == "answer" or len(found) == 1)
            ]
            return words[0].strip() if words else said
    return said


_NAMES = r"(?:passages?|sources?|chunks?|documents?|docs?|refs?\.?|段落|来源|文档)\s*:?\s*#?"
_BETWEEN = r"(?:\s*(?:[,;、，&–-]|and|und|et|y|和)\s*|\s+)"
_LIST = rf"\d{{1,4}}(?:{_BETWEEN}(?:{_NAMES}|\^)?\d{{1,4}})*"
_CITES = rf"(?:{_NAMES}|\^|#)?"
_BRACKETED = re.compile(
    rf"(?<!\\)[\[【［]\s*{_CITES}({_LIST})\s*(?::\d+)?(?:†[^\]】］\n]{{0,80}})?[\]】］](?!\()", re.IGNORECASE
)
_NAMED = re.compile(rf"[(（]\s*(?:see\s+)?{_NAMES}({_LIST})\s*[)）]", re.IGNORECASE)
_RAISED = re.compile(rf"<sup>\s*\[?({_LIST})\]?\s*</sup>", re.IGNORECASE)
_DOUBLED = re.compile(r"\[(\[\d{1,4}\](?:\s*,?\s*\[\d{1,4}\])*)\](?!\()")
_ROUND = re.compile(r"(?<=\S)\s*[(（](\d{1,3}(?:\s*[,，]\s*\d{1,3})*)[)）](?=\s*(?:[.!?。！？;；,，]|$))", re.MULTILINE)
_RANGE = re.compile(r"(\d{1,4})\s*[-–]\s*(\d{1,4})")
_WIDEST = 20


def normal_citations(text: str, passages: int) -> str:
    """The text with every citation of passages 1 to ``passages`` as ``[1]``, however the model writes it.

    >>> normal_citations("It fell【2†source】, then rose [Passages 1 and 3]. It is so [^2].", 3)
    'It fell[2], then rose [1][3]. It is so [2].'
    """

    def cited(match: re.Match[str]) -> str:
        numbers = _numbers(match[1])
        return "".join(f"[{n}]" for n in numbers) if all(1 <= n <= passages for n in numbers) else match[0]

    plain = _NAMED.sub(cited, _BRACKETED.sub(cited, _RAISED.sub(cited, text)))
    plain = _DOUBLED.sub(lambda m: "".join(re.findall(r"\[\d+\]", m[1])), plain)
    if re.search(r"\[\d+\]", plain):
        return plain
    return _ROUND.sub(lambda m: " " + cited(m) if cited(m) != m[0] else m[0], plain)


def _numbers(listed: str) -> list[int]:
    def spread(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        return " ".join(map(str, range(first, last + 1))) if first < last <= first + _WIDEST else match[0]

    return list(dict.fromkeys(int(n) for n in re.findall(r"\d+", _RANGE.sub(spread, listed))))
