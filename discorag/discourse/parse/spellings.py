"""Other spellings of a printed tree (`discorag.discourse.parse.as_printed`), brought into the form that is read."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from discorag.schema.discourse import Relation
from discorag.text.replies import without_fences

_WIDE = str.maketrans("【】［］（）：", "[][]():")
_NEXT = r"\s*[,，、:~]\s*"
_RANGE = re.compile(
    rf"(NUCLEUS|SATELLITE|ROOT)\W{{0,2}}\[(?:EDU\W?)?(\d{{1,4}})(?:{_NEXT}\d{{1,4}})*{_NEXT}(\d{{1,4}})\]",
    re.IGNORECASE,
)
_ROLES = tuple(
    (re.compile(rf"^([^\w\n]*)(?:{names})(?=\W{{0,3}}\[)", re.IGNORECASE | re.MULTILINE), rf"\1{role}")
    for role, names in (("NUCLEUS", "核心|核|NUC|N"), ("SATELLITE", "卫星|附属|SAT|S"))
)
_IN_CHINESE = {
    Relation.ELABORATION: "详述|阐述",
    Relation.EXPLANATION: "解释|说明",
    Relation.EVIDENCE: "证据",
    Relation.EXAMPLE: "例子|举例|示例",
    Relation.CONTRAST: "对比",
    Relation.COMPARISON: "比较",
    Relation.CONCESSION: "让步",
    Relation.ANTITHESIS: "对立|对照",
    Relation.CAUSE: "原因",
    Relation.RESULT: "结果",
    Relation.CONSEQUENCE: "后果",
    Relation.PURPOSE: "目的",
    Relation.CONDITION: "条件",
    Relation.TEMPORAL: "时间",
    Relation.SEQUENCE: "顺序|序列",
    Relation.BACKGROUND: "背景",
    Relation.CIRCUMSTANCE: "环境|情境",
    Relation.SUMMARY: "总结|概括",
    Relation.RESTATEMENT: "重述",
    Relation.EVALUATION: "评价",
    Relation.INTERPRETATION: "解读|诠释",
    Relation.ATTRIBUTION: "归属|引述",
    Relation.DEFINITION: "定义",
    Relation.CLASSIFICATION: "分类",
}
_LABELS = tuple(
    (re.compile(rf"(?<=[:({{])(\s*)(?:{names})(?:关系)?(?=\W*$)", re.MULTILINE), rf"\1{relation}")
    for relation, names in _IN_CHINESE.items()
)


def normalise(reply: str) -> str:
    """The reply with half-width brackets, English roles and relations, and ranges of EDUs as ``[1-3]``.

    A reply in JSON becomes the text that it stands for.
    """
    text = _from_json(without_fences(reply)).translate(_WIDE)
    for pattern, usual in (*_ROLES, *_LABELS):
        text = pattern.sub(usual, text)
    return _RANGE.sub(r"\1[\2-\3]", text)


_PARTS = (("EDUs", "edu|unit"), ("RST ANALYSIS", r"\w*analys|relation"), ("TREE STRUCTURE", r"\w*tree|structure"))
_SATELLITE, _NUCLEUS = re.compile("satellite|source|from|edu_?1", re.I), re.compile("nucleus|target|to$|edu_?2", re.I)
_ROLE, _SPAN = re.compile("role|type|nuclearity|label|node$", re.I), re.compile("span|range|edus?$|id$|units?$", re.I)
_TEXT, _RELATION = re.compile("text|content|edu$|unit$", re.I), re.compile("relation|rel$", re.I)


def _from_json(reply: str) -> str:
    begins = reply.find("{")
    try:
        value = json.JSONDecoder().raw_decode(reply, max(begins, 0))[0]
    except ValueError:
        return reply
    parts = {name: _field(value, re.compile(key, re.I)) for name, key in _PARTS} if isinstance(value, dict) else {}
    if not parts.get("EDUs") or not parts.get("TREE STRUCTURE"):
        return reply
    drawn = {"EDUs": _edus, "RST ANALYSIS": _analysis, "TREE STRUCTURE": _nodes}
    return "\n".join("\n".join([f"{name}:", *drawn[name](value)]) for name, value in parts.items())


def _field(value: Any, key: re.Pattern[str]) -> Any:
    """The first value of an object whose key begins like this; None if there is none."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return next((inner for name, inner in fields.items() if key.match(name)), None)


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*cast("dict[str, Any]", value).values()]
    return cast("list[Any]", value) if isinstance(value, list) else str(value).split("\n") if value else []


def _edus(value: Any) -> Iterator[str]:
    for number, item in enumerate(_items(value), start=1):
        text = str(_field(item, _TEXT) or item)
        yield text if re.match(r"\W*(?:EDU\W?)?\d{1,4}[\]).:]", text) else f"[{number}] {text}"


def _analysis(value: Any) -> Iterator[str]:
    for item in _items(value):
        satellite, nucleus = _field(item, _SATELLITE), _field(item, _NUCLEUS)
        is_named = satellite is not None and nucleus is not None
        yield f"RELATION({satellite}, {nucleus}): {_field(item, _RELATION)}" if is_named else str(item)


def _nodes(value: Any) -> Iterator[str]:
    """A line for each node of a tree of objects; its EDUs tell where it belongs."""
    role, numbers = str(_field(value, _ROLE) or "")[:1].upper(), re.findall(r"\d+", str(_field(value, _SPAN) or ""))
    if role in ("N", "S") and numbers:
        name, relation = {"N": "NUCLEUS", "S": "SATELLITE"}[role], _field(value, _RELATION)
        yield f"|--- {name}[{numbers[0]}-{numbers[-1]}] ({role})" + (f": {relation}" if relation else "")
    for item in _items(value):
        if isinstance(item, dict | list):
            yield from _nodes(item)
        elif not isinstance(value, dict):
            yield str(item)
