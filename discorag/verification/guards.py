"""Figures, dates, quotations and names of a sentence are looked up in its sources, which must have each of them.

If one is missing, somebody should check the sentence. If all are there, nothing is proved.
"""

import html
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Literal

from discorag.text.sentences import language_of
from discorag.verification.figures import missing_figures, read_figures
from discorag.verification.names import missing_names, read_words

_QUOTED = re.compile(r"[\"“„«「]([^\"“”„«»「」]{3,})[\"”“»」]")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"[12]\d{3}")
_BRACKETED = re.compile(r"\[\d[\d.,–-]*\]")  # a citation of no passage is not a figure
_WORD = re.compile(r"\w+(?:'\w+)*")
_SOUND = re.compile(r"\{\w+\}")
_LEFT_OUT = re.compile(r"\s*(?:\[[^\]]*\]|\(?(?:\.\.\.|…)\)?)\s*")
_CLAUSE = re.compile(r"[，；。]|[;:]\s|,?\s+(?:but|though|although|while|whereas|however|yet)\s|,\s+(?:so|and|since)\s")
_ABSENT = re.compile(
    r"\b(?:(?:is|are|was|were|does|do|did|has|have|had|been|being)(?: not|n[’']t)(?: \w+ly)?(?: be)? "
    r"(?:given?|stated?|sa(?:y|id)|mention(?:ed)?|specif(?:y|ied)|known?|report(?:ed)?|indicated?|named?|listed|"
    r"recorded|provided?|disclosed?|found|available|describe[ds]?|identif(?:y|ied)|answer(?:ed)?|covered|included?|"
    r"contain|discuss(?:ed)?|shown?|establish(?:ed)?|clear|address(?:ed)?|explain(?:ed)?)"
    r"|(?:no|none|neither) (?:of )?(?:the |these |other )?(?:\w+ )?"
    r"(?:passages?|sources?|documents?|accounts?|texts?|excerpts?|articles?|evidence|information|mention|record)"
    r"|(?:passages?|sources?|documents?|accounts?|texts?|excerpts?) (?:\w+ )?(?:gives?|names?|states?|mentions?) no"
    r"|no \w+(?: \w+){0,3} (?:is|are|was|were) (?:given|stated|mentioned|specified|named|reported|listed)"
    r"|remains? (?:unknown|unclear|open)|unstated|unspecified)\b",
    re.IGNORECASE,
)
"""A clause that says what no source says."""
_ABSENT_ZH = re.compile(
    r"(?:没有?[^，；。]{0,10}|未(?:能|曾|被|作|予)?)(?:列出|列示|给出|提到|提及|说明|披露|提供|载明|注明|显示|记载)"
    r"|(?:无法|不能|难以|未能)(?:从[^，；。]{0,12}中?)?(?:确定|得出|得知|判断|计算|确认|回答|知道|统计|推断)"
    r"|(?:段落|内容|材料|资料|文中|报告|原文)[^，；。]{0,12}(?:没有|未)(?:出现|包含|包括|涉及)|不(?:详|明确)|未知"
)


@dataclass(frozen=True)
class Detail:
    """A figure, date, name or quotation of a sentence that its sources lack; as a string, with an article."""

    kind: Literal["number", "date", "name", "quotation"]
    text: str

    def __str__(self) -> str:
        return f'the words "{self.text}"' if self.kind == "quotation" else f"the {self.kind} {self.text}"


def missing_details(
    sentence: str, sources: Sequence[str], *, question: str = "", passages: Sequence[str] = ()
) -> list[Detail]:
    """The details of a sentence that no source has.

    Args:
        sentence: It has no citations.
        sources: The texts that may support it, with their titles and headings.
        question: What was asked. Its names and values, except dates, need no source.
        passages: All that was read, to tell whether the sentence begins with a name.
    """
    claim = drop_disclaimers(sentence)
    quoted = [Detail("quotation", text) for text in _missing_quotations(claim, [*sources, question])]
    if language_of(claim) != "en":
        known = {n for n in _digits(question) if not _YEAR.fullmatch(n)}
        there = known.union(*(_digits(source) for source in sources))
        return [*(Detail("number", n) for n in sorted(_missing_numbers(_digits(claim), there))), *quoted]
    figures = missing_figures(claim, [*map(read_figures, sources)], read_figures(question))
    names = missing_names(claim, [*map(read_words, (*sources, question))], [*map(read_words, passages)])
    return [
        *(Detail("date" if f.is_date else "number", f.text) for f in figures),
        *(Detail("name", name) for name in names),
        *quoted,
    ]


def drop_disclaimers(sentence: str) -> str:
    """A sentence without the clauses that say what no source says, and without citations of no passage."""
    sentence = _BRACKETED.sub("", sentence)
    cuts = [0, *(m.end() for m in _CLAUSE.finditer(sentence)), len(sentence)]
    clauses = [sentence[start:end] for start, end in pairwise(cuts)]
    return "".join(clause for clause in clauses if not (_ABSENT.search(clause) or _ABSENT_ZH.search(clause)))


def _missing_quotations(sentence: str, sources: Sequence[str]) -> Iterable[str]:
    """The quotations that no source has; words that a quotation leaves out, or adds in brackets, are not compared."""
    quotations: list[str] = _QUOTED.findall(sentence)
    flat = [_words(source) for source in sources] if quotations else []
    for quotation in quotations:
        parts = [_words(part) for part in _LEFT_OUT.split(quotation) if part]
        if not all(any(part in text for text in flat) for part in parts):
            yield quotation


def _words(text: str) -> str:
    """The words of a text; a transcript's marks of sounds are left out ("{disfmarker}")."""
    plain = _SOUND.sub(" ", html.unescape(text)).replace("’", "'").casefold()
    return f" {' '.join(_WORD.findall(plain))} "


def _missing_numbers(told: Set[str], there: Set[str]) -> Set[str]:
    """The numbers that are not there. The sum or difference of two that are told and there needs no source, nor does 0.

    Several numbers that points join, as in a date or a version, are only looked up.
    """
    amounts = {n: Decimal(n) for n in told if n.count(".") <= 1}
    known = sorted(amount for n, amount in amounts.items() if n in there)
    needless = {Decimal(), *(x for a, b in combinations(known, 2) for x in (a + b, b - a))}
    return {n for n in told - there if amounts.get(n) not in needless}


def _digits(text: str) -> set[str]:
    return {m.replace(",", "").rstrip(".") for m in _DIGITS.findall(text)}
