"""A language model's reply: its named parts, its JSON object, its prose, and the whole sentences of cut-off prose."""

import json
import re
from contextlib import suppress

from json_repair import repair_json

from discorag.text.sentences import sentence_spans

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_IN_CHINESE = {
    "PLAN": "计划|规划|大纲",
    "ANSWER": "最终答案|回答|答案|答",
    "RETRIEVAL HINT": "检索提示|检索词|检索查询|查询",
    "EDU": "基本(?:话语|篇章)单元|EDU列表",
    "RST ANALYSIS": r"RST\s*分析|修辞(?:结构)?分析",
    "TREE STRUCTURE": "树[形状]?结构",
}
_FILLER = r"(?:(?:\d[.)]|here|is|are|the|my|final|rst|elementary|discourse|units)[ (]+)*"


def parts_of(reply: str, *names: str) -> dict[str, str]:
    """The parts of a reply by their names; if two parts have the same name, the last one counts.

    ``names`` are in capitals, as the prompt writes them. In the reply a name begins a line, and it ends with a colon,
    fills its line, or is in capitals. It may be a heading, bold, a list item, in any case, in the plural, or in
    Chinese. "Here is the" and the like may precede it; a remark in brackets may follow it.
    """
    text, plain = without_fences(reply), "|".join(map(re.escape, names))
    either = "|".join([plain, *(_IN_CHINESE[name] for name in names if name in _IN_CHINESE)])
    remark = r"(?:[ \t]*[(（][^()（）\n]*[)）])?"
    named = rf"(?i:{_FILLER}({either})s?\)?){remark}[*_`]*[ \t]*(?:[:：][*_`]*|$)|({plain})(?=\s)"
    headers = list(re.finditer(rf"^[^\w\n\[]*(?:{named})[ \t]*", text, re.MULTILINE))
    ends = [*(header.start() for header in headers[1:]), len(text)]
    return {_in_english(h[1] or h[2]): text[h.end() : end].strip() for h, end in zip(headers, ends, strict=False)}


def _in_english(name: str) -> str:
    return next((known for known, said in _IN_CHINESE.items() if re.fullmatch(said, name)), name.upper())


def without_fences(reply: str) -> str:
    """The reply without the lines that open and close blocks of code."""
    return _FENCE.sub("", reply.replace("\r\n", "\n"))


_OBJECT = re.compile(r"\{\s*[\"'“]")


def json_in(reply: str) -> str:
    """The JSON object in a reply that was to be one, whatever is around it and however it is spelled.

    A reply without an object is returned as it is: its reader says what is wrong.
    """
    with suppress(ValueError):
        if isinstance(json.loads(reply), dict):
            return reply
    begins = _OBJECT.search(reply)
    found = repair_json(reply[begins.start() :] if begins else reply, return_objects=True)
    return json.dumps(found, ensure_ascii=False) if isinstance(found, dict) and found else reply


_PROSE = ("answer", "plan", "response", "text", "content", "output", "result")


def prose_in(reply: str) -> str:
    """The prose in a reply that was to be prose, also if the model put it into a JSON object.

    Raises:
        ValueError: The reply is an object without prose.
    """
    bare = without_fences(reply).strip()
    if not _OBJECT.match(bare):
        return reply
    found = json.loads(json_in(bare))
    said = [found[name] for name in _PROSE if isinstance(found.get(name), str)]
    if not said:
        raise ValueError("The output is a JSON object. Write plain prose.")
    return said[0]


_WHOLE = re.compile(r"[.!?。！？…][\"'”’)\]」』*]*\Z")


def whole_sentences(text: str) -> str:
    """Cut-off prose up to its last whole sentence.

    Raises:
        ValueError: The text has no whole sentence.
    """
    text = text.rstrip()
    sentences = sentence_spans(text)
    if not _WHOLE.search(text):
        sentences = sentences[:-1]
    if not sentences or not _WHOLE.search(text[: sentences[-1].end]):
        raise ValueError("It holds no whole sentence.")
    return text[: sentences[-1].end]
