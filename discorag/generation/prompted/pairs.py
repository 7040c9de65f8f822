"""The label of each ordered pair of chunks in a model's reply, in the many forms in which models write it.

A line becomes a word over the alphabet of `_TOKENS`, such as ``r>r:l`` for ``CHUNK[1] -> CHUNK[2]: SUPPORTS``. Each
form is a pattern of such words.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, cast

from discorag.schema.discourse import ChunkRelation
from discorag.text.replies import without_fences

Labels = dict[tuple[int, int], str]
"""Numbers of source and target -> label."""

_NAME = r"(?:(?<![a-z])(?:chunks?|passages?|source|target|c|p)|文本块|块|片段|段落|段|第)"
_TOKENS = {
    "l": "",
    "=": r"<[-=]*>|\\(?:long)?leftrightarrow|[↔⇔⟷]",
    "<": r"<[-=]*|\\(?:long)?leftarrow|[←⇐⟵]",
    ">": r"[-=~–—]*>+|\\(?:(?:long)?rightarrow|to)\b|[→⇒➜➔➡⟶]|\b(?:to|towards)\b|到|对",
    "r": rf"(?:{_NAME}[\W_]{{0,4}}?)?(?<![\d.])(?P<number>\d{{1,4}})(?![\d%])",
    "": r"\b(?:relation(?:ship)?|label|is|are|the)\b|关系|标签|为|是",
    "|": r"[|\t]",
    ",": r"[,，、]",
    ";": r"[;；]",
    "o": r"[/&]|\b(?:or|and)\b|和|或",
    ":": r"[:：=–—-]+",
    "w": r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+",
}
"""What a line is made of: arrows to both sides, left, right; a label; the number of a chunk (``r``); words without
meaning here; separators; any other word (``w``). ``l`` depends on the labels."""
_LABEL = r"l(?![,o]l)"  # one of two labels is not read
_PAIRS = re.compile(rf"(?P<source>r)[|:,]?(?P<arrow>[><=:,|])(?P<targets>r(?:[,o]r)*)[:,|]*(?P<label>{_LABEL})")
_MORE = re.compile(rf"[,;][>:]*(?P<targets>r)[:>]*(?P<label>{_LABEL})")
_BETWEEN = re.compile(r"(?P<source>r)[:>]*(?P<label>l)[:>]*(?P<targets>r)(?![:,]?[><=rl])")
_BELOW_SOURCE = re.compile(rf"[w>:]{{0,2}}(?P<targets>r)[:>,]+(?P<label>{_LABEL})")
_AFTER_LABEL = re.compile(r"l:*(?:[,;o]?r[>,]r)+")
_BELOW_LABEL = re.compile(r"r[>,:]r")
_NUMBERING = re.compile(r"^\W*\d{1,3}[.)]\s+(?=\D)")
_CLOSES = re.compile(
    r"\b(?:all|every|each|others?|remaining|rest|else|everything)\b|其余|其他|其它|剩余|所有|全部", re.I
)
_NO_OTHER = re.compile(r"\bno (?:other|further) (?:ordered )?(?:pairs?|relations?|links?|chunks?)\b", re.I)


def pair_labels(text: str, k: int, *, names: Mapping[str, str], other: str) -> Labels:
    """The labels of the ordered pairs of ``k`` chunks, as far as the reply has them.

    It reads lines of a pair and its label, with other arrows, brackets and names of chunks, lists below a source or a
    label, tables, and JSON. If a pair has two lines, the last one counts; a line with two labels is not read. If a
    sentence covers all other pairs, these are ``other``.

    Args:
        text: The reply.
        k: How many chunks there are.
        names: Spelling -> label.
        other: The label of a pair that is not related.

    Raises:
        ValueError: No pair has a label. The message tells the model what to write.
    """
    pairs = list(permutations(range(1, k + 1), 2))
    reader = _Reader(k, _pattern(names), {_plain(name): label for name, label in names.items()}, other)
    for line in _lines(text):
        reader.read(line)
    found = {pair: reader.found[pair] for pair in pairs if pair in reader.found}
    if reader.is_closed:
        found = {pair: found.get(pair, other) for pair in pairs}
    if pairs and not found:
        raise ValueError(
            f"No pair has a label. Write a line 'CHUNK[i] -> CHUNK[j]: LABEL' for each of {len(pairs)} ordered pairs, "
            "with a label of the list."
        )
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Finds the tokens of a line; a label is found before any other word."""
    spelled = sorted(map(_plain, names), key=len, reverse=True)
    latin = [r"[\W_]+".join(name.split()) for name in spelled if name.isascii()]
    label = rf"(?<![^\W_])(?:{'|'.join(latin)})(?![^\W_])"
    label = "|".join([label, *(name for name in spelled if not name.isascii())])
    kinds = ((kind, label if kind == "l" else pattern) for kind, pattern in _TOKENS.items())
    named = (rf"(?P<k{ord(kind) if kind else 0}>{pattern})" for kind, pattern in kinds)
    return re.compile("|".join(named), re.IGNORECASE)


@dataclass
class _Reader:
    """Reads line after line; a line can name the source, the label or the columns of the lines below it.

    Args:
        k: How many chunks there are.
        tokens: Finds the tokens of a line.
        names: Spelling, in words of lower case -> label.
        other: The label of a pair that is not related.
    """

    k: int
    tokens: re.Pattern[str]
    names: Mapping[str, str]
    other: str
    found: Labels = field(default_factory=dict[tuple[int, int], str])
    is_closed: bool = False
    _source: str = ""
    _label: str = ""
    _columns: tuple[str, ...] = ()

    def read(self, line: str) -> None:
        """Read one line; one that gives all other pairs the label ``other`` closes the list."""
        word, values = self._tokenise(_NUMBERING.sub("", line))
        if word.startswith("|") and self._read_row(line):
            return
        if _AFTER_LABEL.fullmatch(word):
            numbers = [value for kind, value in zip(word, values, strict=True) if kind == "r"]
            for pair in zip(numbers[::2], numbers[1::2], strict=False):
                self._put(*pair, values[0])
        elif match := _BETWEEN.match(word) or (self._source and _BELOW_SOURCE.match(word)):
            self._put_match(match, values)
        elif self._label and _BELOW_LABEL.fullmatch(word):
            self._put(values[0], values[-1], self._label)
        elif not self._read_pairs(word, values):
            closes = _CLOSES.search(line) and self.other in values
            self.is_closed = self.is_closed or bool(closes or _NO_OTHER.search(line))
            self._read_heading(word, values)

    def _tokenise(self, line: str) -> tuple[str, list[str]]:
        """The kinds of the line's tokens as a word, and their values: numbers, labels, words."""
        kinds, values = "", list[str]()
        for match in self.tokens.finditer(line):
            number, kind = match["number"], chr(int(str(match.lastgroup)[1:])) if match.lastgroup != "k0" else ""
            kind = "w" if number and not 1 <= int(number) <= self.k else kind
            if kind and not (not kinds and kind in ":,;"):
                kinds += kind
                values.append(number or self.names.get(_plain(match[0]), match[0]))
        end = len(kinds.rstrip(":,;"))
        return kinds[:end], values[:end]

    def _read_pairs(self, word: str, values: list[str]) -> bool:
        """Read pairs with their labels, and further targets of a source. Returns whether there are any."""
        at = 0
        while match := _PAIRS.search(word, at):
            self._source, at = self._put_match(match, values), match.end()
            while more := _MORE.match(word, at):
                self._put_match(more, values)
                at = more.end()
        return at > 0

    def _put_match(self, match: re.Match[str], values: list[str]) -> str:
        """Store the label of one source and its targets; returns the source."""
        groups = match.groupdict()
        source = values[match.start("source")] if "source" in groups else self._source
        for place in range(*match.span("targets")):
            if match.string[place] == "r":
                self._put(source, values[place], values[match.start("label")], groups.get("arrow", ">"))
        return source

    def _put(self, source: str, target: str, label: str, arrow: str = ">") -> None:
        one, other = int(source), int(target)
        if arrow != "<":
            self.found[one, other] = label
        if arrow in "<=":
            self.found[other, one] = label

    def _read_row(self, line: str) -> bool:
        """Read a row of a table that has the sources at its side and the targets in its head."""
        cells = [self._tokenise(cell) for cell in line.strip().strip("|").split("|")]
        numbers = ["".join(v for kind, v in zip(*cell, strict=True) if kind == "r") for cell in cells]
        labels = ["".join(v for kind, v in zip(*cell, strict=True) if kind == "l") for cell in cells]
        if not any(labels) and sum(map(bool, numbers[1:])) > 1:
            self._columns = tuple(numbers)
        elif not numbers[0] or any(numbers[1:]) or len(cells) != len(self._columns):
            return False
        for target, label in zip(self._columns, labels, strict=False):
            if target and label:
                self._put(numbers[0], target, label)
        return True

    def _read_heading(self, word: str, values: list[str]) -> None:
        """Remember the one chunk that a line names as the source, or the one label."""
        if word.count("r") == 1 and "l" not in word:
            self._source, self._label = values[word.index("r")], ""
        elif word.count("l") == 1 and "r" not in word and len(word) < 4:
            self._source, self._label = "", values[word.index("l")]


_JSON = re.compile(r"[\[{]\s*[\"{\[]")
_KEYS = tuple(
    re.compile(rf"(?:{keys})\b", re.IGNORECASE)
    for keys in (
        r"source|from|src|head|first|i|a|chunk_?[1ai]",
        r"target|to|dst|tail|second|j|b|chunk_?[2bj]",
        r"(?:\w+_)?(?:label|relation|type|marker|relationship)|关系|标签",
    )
)


def _lines(text: str) -> list[str]:
    """The lines of a reply; those that its JSON stands for, if it has any."""
    plain, at, found = unicodedata.normalize("NFKC", without_fences(text)), 0, list[str]()
    while begins := _JSON.search(plain, at):
        try:
            value, at = json.JSONDecoder().raw_decode(plain, begins.start())
            found += _as_lines(value)
        except ValueError:
            at = begins.start() + 1
    return found or plain.split("\n")


def _as_lines(value: Any) -> Iterator[str]:
    """JSON as lines: an object with source, target and label, a list of the three, or a heading and what is below."""
    if isinstance(value, dict):
        yield from _object_lines({str(key): v for key, v in cast("dict[Any, Any]", value).items()})
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        if (
            len(items) in (2, 3)
            and not any(isinstance(item, list | dict) for item in items[:2])
            and str(items[0]).isdigit()
        ):
            yield " -> ".join(map(str, items[:2])) + "".join(f": {label}" for label in items[2:])
        else:
            for item in items:
                yield from _as_lines(item)
    else:
        yield str(value)


def _object_lines(value: dict[str, Any]) -> Iterator[str]:
    source, target, label = (next((v for k, v in value.items() if key.match(k)), None) for key in _KEYS)
    if target is not None and label is not None and not isinstance(label, list | dict):
        yield f"{'' if source is None else source} -> {target}: {label}"
        return
    for key, inner in value.items():
        if isinstance(inner, list | dict):
            yield f"{key}:"
            yield from _as_lines(inner)
        else:
            yield f"{key}: {inner}"


SPELLINGS = {
    ChunkRelation.SUPPORTS: "support, 支持, 佐证",
    ChunkRelation.CONTRADICTS: "contradict, 矛盾, 反驳",
    ChunkRelation.ELABORATES: "elaborate, elaborates on, 阐述, 详述",
    ChunkRelation.EXEMPLIFIES: "exemplify, 举例, 例证",
    ChunkRelation.CAUSES: "cause, 导致, 原因, 引起",
    ChunkRelation.RESULTS_FROM: "results, result from, 源于, 结果",
    ChunkRelation.ENABLES: "enable, 使能, 促成",
    ChunkRelation.PREVENTS: "prevent, 阻止, 阻碍",
    ChunkRelation.PRECEDES: "precede, 先于, 之前",
    ChunkRelation.FOLLOWS: "follow, 后于, 之后",
    ChunkRelation.SIMULTANEOUS: "simultaneous with, 同时",
    ChunkRelation.BACKGROUND_FOR: "background, 背景",
    ChunkRelation.GENERALIZES: "generalize, generalises, 概括",
    ChunkRelation.SPECIFIES: "specify, 具体化, 细化",
    ChunkRelation.COMPARES_WITH: "compares, compare with, compares to, 比较",
    ChunkRelation.CONTRASTS_WITH: "contrasts, contrast with, 对比, 对照",
    ChunkRelation.SUPPLEMENTS: "supplement, 补充",
    ChunkRelation.REPLACES: "replace, 取代, 替代",
    ChunkRelation.MOTIVATES: "motivate, 动机",
    ChunkRelation.JUSTIFIES: "justify, 辩护, 论证",
    ChunkRelation.UNRELATED: "unrelated to, not related, no relation, none, 无关, 不相关, 无关联",
}
"""Other spellings of the labels of figure 9."""
_OTHERS = {name: label for label, spelled in SPELLINGS.items() for name in spelled.split(", ")}
RELATIONS: dict[str, str] = {**{label: label for label in SPELLINGS}, **_OTHERS}
"""Spelling -> label of figure 9."""
