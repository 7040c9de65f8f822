"""Signs of each fault that cost nothing: layout characters, words of grammar that open a sentence, how it ends."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bench.answers.lint.said import Answered, Fault
from bench.answers.lint.wholeness import logit

CONJUNCTIONS = frozenset({"and", "but", "so", "or", "nor", "yet"})
PERSONAL = frozenset({"he", "she", "it", "they", "his", "her", "their", "its", "him", "them"})
DEMONSTRATIVE = frozenset({"this", "that", "these", "those", "such"})
LINKS = frozenset(
    {"then", "thus", "therefore", "hence", "however", "otherwise", "instead", "here", "also", "too", "moreover"}
)
CONNECTIVES = (
    "in addition|as a result|by contrast|in contrast|on the other hand|on the contrary|likewise|similarly|moreover|"
    "furthermore|however|nevertheless|therefore|thus|consequently|for example|for instance|at the same time|meanwhile|"
    "besides|also|still|instead|otherwise|in fact|even so|because of this|that is"
)
OPENING = 3
"""Words at which an opening is looked for."""
MARKUP = re.compile(
    r"\[[^\]]*\]\("  # a link
    r"|(?<![\w`])\[[a-z][\w-]*\](?![\w`])"  # one by reference
    r"|(?<!\w)(\*{1,3}|_{1,3})\w[^*_]*\w\1(?!\w)"  # emphasis
    r"|^\W*\d+[.)]\s|^[（(]\d+[）)]|^[-*•#>]+\s|^\||\|[^|]*\||\s•\s"  # items, headings, rows
    r"|#{2,}\s|={3,}|-{4,}|_{4,}|/{3}|`{3}"  # rules
    r"|\\[A-Za-z]+|\$(?!\s)[^$]*(?<!\s)\$(?!\d)|</?[a-z]+[^>@]*>|&[a-z]+;"  # LaTeX, HTML
    r"|\{[a-z_]+\}|``|''|\(\s*[\];]"  # tags of transcripts, quotation marks of treebanks, emptied brackets
    r"|\u2010\s|[A-Z]{3,}REF\d|[A-Z]{4,}FORM\d"  # words cut at the end of a line, places of what was taken out
)
_LEAD = re.compile(rf"^(?:{CONNECTIVES}),? (?=\S)", re.IGNORECASE)
_SPEAKER = re.compile(r"^(?:[A-Z][\w.'’-]*\s?){1,4}:\s*(?=\S)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SHOUTED = re.compile(r"(?:[A-Z]{2,} ){2}")
_SYNOPSIS = re.compile(r"(?:^| )(?:\[|\{|<|--?[a-z])\S*.*[\]}>]\.*$|^-|^\$ ")
_CJK = re.compile(r"[\u3400-\u9fff]")
_END = re.compile(r"[.!?:。！？：…][\"'”’»)\]」』]*$")


def signs(answer: Answered, at: int) -> dict[Fault, tuple[float, ...]]:
    """The signs of each fault in the sentence at this place, numbers between about -5 and 5."""
    return {
        "fragments": _fragment(answer.sentences[at].text),
        "markup": (float(bool(MARKUP.search(answer.sentences[at].text))),),
        "dangling": _dangling(answer, at),
        "connectives": _connective(answer, at),
    }


def _fragment(text: str) -> tuple[float, ...]:
    """How it reads to the model of whole sentences, if that knows the language, how it begins and ends."""
    text = _SPEAKER.sub("", _LEAD.sub("", text))
    foreign = bool(_CJK.search(text))
    words = _WORD.findall(text)
    odd = sum(not (c.isalpha() or c.isspace()) for c in text) / len(text)
    return (
        0.0 if foreign else max(-5.0, min(5.0, logit(text))),
        float(foreign),
        float(not _END.search(text)),
        float(bool(re.match(r"[a-z]+[ ,;]|[^\w\s\"'“‘(`]", text))),
        min(2.0, 10 * odd),
        float(len(words) < 4),
        3 / (1 + len(words)),
        float(bool(_SHOUTED.match(text))),
        float(len(words) > 1 and sum(word[0].isupper() for word in words) > 0.6 * len(words)),
        float(bool(_SYNOPSIS.search(text))),
    )


def _dangling(answer: Answered, at: int) -> tuple[float, ...]:
    said = answer.sentences[at]
    alone, first = not said.follows, at == 0
    told = _SPEAKER.sub("", _LEAD.sub("", said.text))
    opening = _words(told)[:OPENING]
    head, next_words = set(opening[:1]), set(opening[1:]) - set(_words(answer.question))
    lead = set(_words(said.text)[:1])
    return (
        float(alone and bool(CONJUNCTIONS & head)),
        float(first and bool(PERSONAL & head)),
        float(alone and not first and bool(PERSONAL & head)),
        float(alone and bool(DEMONSTRATIVE & head)),
        float(alone and bool((DEMONSTRATIVE - {"that"}) & next_words)),
        float(alone and bool(LINKS & (head | lead))),
        float(alone and bool(PERSONAL & next_words)),
    )


def _connective(answer: Answered, at: int) -> tuple[float, ...]:
    """What comes after an opening connective: another one, a capital that is no name's, something that is no clause."""
    text = answer.sentences[at].text
    found = _LEAD.match(text)
    if not found:
        return (0.0,)
    rest = text[found.end() :]
    word = next(iter(_WORD.findall(rest)), "")
    joins = word.lower() in CONJUNCTIONS | LINKS and not rest[:1].isupper()
    labelled = bool(_SPEAKER.match(rest[:1].upper() + rest[1:]))
    broken = logit(rest) > 0 or bool(_SHOUTED.match(rest) or _SYNOPSIS.search(rest))
    return (float(joins or broken or labelled or _no_name(word, rest, answer, at)),)


def _no_name(word: str, rest: str, answer: Answered, at: int) -> bool:
    """Whether a capital after a connective is none of a name: the word has it nowhere else, and no name goes on."""
    if not (rest[:1].isupper() and rest.startswith(word)) or any(c.isupper() for c in word[1:]):
        return rest[:1].isupper() and word.isupper() and len(word) > 1
    after = rest[len(word) :].split()[:1]
    if after and after[0][:1].isupper():
        return False
    others = [answer.question, *(s.text for i, s in enumerate(answer.sentences) if i != at), rest[len(word) :]]
    return not any(word in _WORD.findall(other) for other in others)


def _words(text: str) -> Sequence[str]:
    return [word.lower() for word in _WORD.findall(text)]
