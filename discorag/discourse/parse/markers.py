"""Discourse markers, English and Chinese: what the words that open a sentence say about how it relates to the text.

The relation is the one between the sentence (with what follows it) and what comes before. A table of connectives and
three patterns for definitions; no claim beyond that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from discorag.schema.rst_relations import Nuclearity, Relation

_HEAD = 80  # a marker stands within the first 80 characters of a sentence


class Reach(IntEnum):
    """How much text a marker relates to: the sentence before, no telling, a line of thought, or all of it."""

    NEAR = -1
    PLAIN = 0
    WIDE = 1
    WHOLE = 2


@dataclass(frozen=True)
class Marker:
    """What a marker says about the cut before it.

    Example:
        >>> from discorag.discourse.parse.markers import opening
        >>> str(opening("However, the sun hinders.").relation), opening("The sun hinders.")
        ('CONTRAST', None)
    """

    relation: Relation
    nuclearity: Nuclearity
    reach: Reach = Reach.PLAIN


_NS, _SN, _NN = Nuclearity.NS, Nuclearity.SN, Nuclearity.NN
_DEFINITION = Marker(Relation.DEFINITION, _NS)

# Marker -> phrases. "first," opens a list: it says nothing about a step before it.
_GROUPS: dict[Marker, str] = {
    Marker(Relation.CONTRAST, _NN, Reach.WIDE): (
        "however | but | yet | by contrast | in contrast | conversely | on the other hand | whereas | then again | "
        "但是 | 但 | 然而 | 不过 | 可是 | 相比之下 | 另一方面 | 反之 | 与此相反"
    ),
    Marker(Relation.ANTITHESIS, _NS): "on the contrary | instead | 相反 | 恰恰相反",
    Marker(Relation.CONCESSION, _NS): (
        "although | though | even though | even if | despite | in spite of | notwithstanding | admittedly | "
        "虽然 | 尽管 | 即使 | 即便 | 诚然"
    ),
    Marker(Relation.CONCESSION, _SN): (
        "nevertheless | nonetheless | even so | all the same | despite this | in spite of this | "
        "尽管如此 | 虽然如此 | 即便如此"
    ),
    Marker(Relation.COMPARISON, _NN): (
        "similarly | likewise | in the same way | in comparison | compared with | compared to | "
        "同样 | 类似地 | 相似地 | 相较之下"
    ),
    Marker(Relation.EXAMPLE, _NS, Reach.NEAR): (
        "for example | for instance | e.g. | as an example | by way of example | to illustrate | "
        "例如 | 比如 | 譬如 | 举例来说 | 比方说"
    ),
    Marker(Relation.CAUSE, _NS, Reach.NEAR): (
        "because | due to | owing to | this is because | that is because | the reason is | "
        "因为 | 由于 | 这是因为 | 原因是 | 原因在于"
    ),
    Marker(Relation.RESULT, _NS): (
        "therefore | thus | hence | so | as a result | accordingly | for this reason | that is why | because of this | "
        "due to this | 因此 | 所以 | 因而 | 于是 | 结果"
    ),
    Marker(Relation.CONSEQUENCE, _NS): "consequently | as a consequence | in consequence | 其后果是 | 由此导致",
    Marker(Relation.EVIDENCE, _NS, Reach.NEAR): (
        "studies show | research shows | the data show | evidence suggests | "
        "研究表明 | 研究显示 | 数据显示 | 结果表明 | 结果显示"
    ),
    Marker(Relation.EXPLANATION, _NS, Reach.NEAR): "after all | to explain | 毕竟 | 具体来说 | 具体而言",
    Marker(Relation.RESTATEMENT, _NS, Reach.NEAR): (
        "in other words | that is, | that is to say | put differently | put another way | put simply | i.e. | namely | "
        "换句话说 | 换言之 | 也就是说"
    ),
    Marker(Relation.SUMMARY, _NS, Reach.WHOLE): (
        "in short | in sum | in summary | to sum up | to summarise | to summarize | in conclusion | to conclude | "
        "overall, | all in all | in brief | on the whole | 总之 | 综上所述 | 总而言之 | 简而言之 | 总的来说 | 总体而言"
    ),
    Marker(Relation.ELABORATION, _NS, Reach.WIDE): (
        "first, | firstly | first of all | to begin with | to start with | in the first place | on the one hand | "
        "首先 | 第一， | 一方面"
    ),
    Marker(Relation.SEQUENCE, _NN, Reach.WIDE): (
        "then | next, | second, | secondly | third, | thirdly | fourth, | finally | lastly | after that | afterwards | "
        "afterward | subsequently | 其次 | 然后 | 接着 | 随后 | 之后 | 再次 | 最后 | 第二， | 第三， | 第四，"
    ),
    Marker(Relation.TEMPORAL, _NN): (
        "meanwhile | at the same time | simultaneously | in the meantime | later, | earlier, | previously | "
        "since then | before that | until then | 与此同时 | 同时 | 后来 | 此前 | 从那时起 | 在此之前 | 在此期间"
    ),
    Marker(Relation.CONDITION, _NS): (
        "if | unless | provided that | as long as | in case | otherwise | assuming | "
        "如果 | 假如 | 倘若 | 要是 | 除非 | 只要 | 否则 | 一旦"
    ),
    Marker(Relation.CIRCUMSTANCE, _NS): "in this case | in such cases | under these circumstances | 在这种情况下",
    Marker(Relation.PURPOSE, _NS): "to this end | for this purpose | in order to | so that | 为此 | 为了",
    Marker(Relation.EVALUATION, _NS): (
        "fortunately | unfortunately | importantly | remarkably | surprisingly | "
        "遗憾的是 | 不幸的是 | 幸运的是 | 重要的是 | 值得注意的是"
    ),
    Marker(Relation.INTERPRETATION, _NS): (
        "this means | this suggests | this implies | this indicates | 这意味着 | 这表明 | 这说明 | 由此可见"
    ),
    Marker(Relation.BACKGROUND, _NS): "historically | traditionally | in the past | 历史上 | 传统上",
    Marker(
        Relation.ATTRIBUTION, _NS
    ): "according to | in the words of | as reported by | 根据 | 据报道 | 据悉 | 据统计 | 据称",
    Marker(Relation.JOINT, _NN): (
        "moreover | furthermore | in addition | additionally | besides | also | 此外 | 另外 | 而且 | 并且 | 再者"
    ),
}
_LOOKALIKES = "so far | so much | so many | so called | so-called | thus far | yet another | 但丁"


def _phrases(group: str) -> list[str]:
    return [phrase.strip() for phrase in group.split("|")]


def _pattern(phrase: str) -> str:
    boundary = r"(?![\w-])" if phrase[-1].isascii() and phrase[-1].isalnum() else ""
    return r"\s+".join(map(re.escape, phrase.split())) + boundary


MARKERS: dict[str, Marker | None] = {
    **{phrase: marker for marker, group in _GROUPS.items() for phrase in _phrases(group)},
    **dict.fromkeys(_phrases(_LOOKALIKES)),
}
"""Phrase, in lower case -> what it says; None for openings that only look like a marker."""

_OPENING = re.compile(
    r"[\W_]*(?:and\b[\W_]*)?(" + "|".join(_pattern(p) for p in sorted(MARKERS, key=len, reverse=True)) + ")"
)
_NOT_A_TERM = "it|this|that|there|he|she|they|these|those|here|we|i|you|what|who|which|one"
_DEFINITIONS = (
    re.compile(rf"[\W_]*(?!(?:{_NOT_A_TERM})\b)[\w'’()-]+(?: [\w'’()-]+){{0,5}} (?:is|are) an? "),
    re.compile(r".*\b(?:(?:is|are) defined as|refers? to)\b", re.DOTALL),
    re.compile(r".*(?:是指|指的是|定义为|定义是|是一种|是一类)", re.DOTALL),
)


def opening(sentence: str) -> Marker | None:
    """What the opening words of ``sentence`` say about how it relates to what precedes; None if nothing.

    The longest marker wins. Case, quotation marks, bullets and an "and" before it do not matter. A sentence without a
    marker that defines a term ("X is a ...", "is defined as", "refers to", 是指) is a DEFINITION.
    """
    head = sentence[:_HEAD].casefold()
    found = _OPENING.match(head)
    if found:
        return MARKERS[" ".join(found[1].split())]
    return _DEFINITION if any(p.match(head) for p in _DEFINITIONS) else None
