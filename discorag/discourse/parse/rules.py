"""A parser without a model: sentences, joined by paragraph, heading and discourse marker, English or Chinese.

Every gap between two sentences gets a strength; a span is cut at its strongest gap, the first one if several are
equal. Without any cue this is the right-branching tree, a strong baseline for document structure. The relation of a
cut comes from the marker that opens its right-hand side: a table of connectives, and three patterns for definitions.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from discorag.discourse.parse.parser import Limits, Unit, join_texts
from discorag.models.toolbox import Toolbox
from discorag.schema.answer import Outcome
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.values import Span

_HEAD = 80  # a marker is looked for in the first 80 characters of a sentence


class Reach(IntEnum):
    """How much text a marker relates to: the sentence before, an unknown amount, a line of thought, or all of it."""

    NEAR = -1
    PLAIN = 0
    WIDE = 1
    WHOLE = 2


@dataclass(frozen=True)
class Marker:
    """What a marker says about the cut before it."""

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


VERSION = "rules-1"

_MARKDOWN_HEADING = re.compile(r"#{1,6}\s[^\n]*")
_HEADING_LENGTH = 80
_SENTENCE_END = ".!?。！？…:：;；,，、"

_BETWEEN_SENTENCES = Marker(Relation.ELABORATION, Nuclearity.NS)
_BETWEEN_PARAGRAPHS = Marker(Relation.JOINT, Nuclearity.NN)
_AFTER_HEADING = Marker(Relation.BACKGROUND, Nuclearity.SN)


class _Level(IntEnum):
    """What kind of gap: the outermost is cut first."""

    SENTENCE = 0
    PARAGRAPH = 1
    HEADED = 2  # between a heading and its text
    SECTION = 3  # before a heading


@dataclass(frozen=True)
class _Gap:
    level: _Level
    marker: Marker

    @property
    def strength(self) -> int:
        """Levels outweigh reach."""
        return len(Reach) * self.level + self.marker.reach


class RuleParser:
    """The local engine's parser: deterministic, n log n in the number of sentences, no model."""

    name = "rules"
    version = VERSION

    async def parse(self, chunk: Chunk) -> Outcome[RstTree]:
        """The tree whose EDUs are the chunk's sentences."""
        return Outcome(value=self.tree(chunk))

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The tree over given units; every unit starts a paragraph if that is its kind."""
        return self.tree(_chunk_of(texts, kind))

    def tree(self, chunk: Chunk) -> RstTree:
        """The tree that headings and discourse markers suggest."""
        return rule_tree(chunk)


class RightBranchingParser(RuleParser):
    """A control: every sentence elaborated by all that follows, so that the first ones are the most nuclear."""

    name = "right-branching"
    version = "right-branching-1"

    def tree(self, chunk: Chunk) -> RstTree:
        """The same shape for every text."""
        n, (relation, nuclearity) = len(chunk.sentences), (_BETWEEN_SENTENCES.relation, _BETWEEN_SENTENCES.nuclearity)
        splits = (Split(start=i, mid=i + 1, end=n, relation=relation, nuclearity=nuclearity) for i in range(n - 1))
        return RstTree(edus=chunk.sentences, splits=tuple(splits))


def rule_parser(_tools: Toolbox, _limits: Limits) -> RuleParser:
    """For the registry."""
    return RuleParser()


def right_branching_parser(_tools: Toolbox, _limits: Limits) -> RightBranchingParser:
    """For the registry."""
    return RightBranchingParser()


def _chunk_of(texts: Sequence[str], kind: Unit) -> Chunk:
    whole, units = join_texts(texts, kind)
    starts = tuple(range(1, len(units))) if kind == "paragraph" else ()
    span = Span(start=0, end=len(whole))
    return Chunk(id="", doc_id="", order=0, span=span, text=whole, sentences=units, paragraph_starts=starts)


def rule_tree(chunk: Chunk) -> RstTree:
    """The tree over ``chunk.sentences`` that paragraphs, headings and markers suggest."""
    return from_splits(chunk.sentences, _splits(_gaps(chunk)))


def _splits(gaps: Sequence[_Gap]) -> dict[tuple[int, int], Split]:
    """Cut at gap after gap, strongest first; ``gaps[i]`` lies before sentence i + 1."""
    cuts = [0, len(gaps) + 1]
    splits: dict[tuple[int, int], Split] = {}
    for mid in sorted(range(1, len(gaps) + 1), key=lambda m: -gaps[m - 1].strength):
        at = bisect_left(cuts, mid)
        start, end, marker = cuts[at - 1], cuts[at], gaps[mid - 1].marker
        splits[start, end] = Split(
            start=start, mid=mid, end=end, relation=marker.relation, nuclearity=marker.nuclearity
        )
        cuts.insert(at, mid)
    return splits


def _gaps(chunk: Chunk) -> list[_Gap]:
    texts = [chunk.slice(s) for s in chunk.sentences]
    starts = frozenset(chunk.paragraph_starts)
    headings = [_MARKDOWN_HEADING.fullmatch(t) is not None for t in texts]
    headings[0] = headings[0] or (1 in starts and _is_title(texts[0]))
    return [_gap(texts[i], headings[i - 1], headings[i], i in starts) for i in range(1, len(texts))]


def _gap(right: str, after_heading: bool, before_heading: bool, new_paragraph: bool) -> _Gap:
    if after_heading:
        return _Gap(_Level.SECTION if before_heading else _Level.HEADED, _AFTER_HEADING)
    if before_heading:
        return _Gap(_Level.SECTION, _BETWEEN_PARAGRAPHS)
    if new_paragraph:
        return _Gap(_Level.PARAGRAPH, opening(right) or _BETWEEN_PARAGRAPHS)
    return _Gap(_Level.SENTENCE, opening(right) or _BETWEEN_SENTENCES)


def _is_title(text: str) -> bool:
    """Whether a paragraph of one sentence looks like a heading: one short line, no punctuation at its end."""
    short = len(text) <= _HEADING_LENGTH and "\n" not in text
    return short and text[0].isalnum() and text[-1] not in _SENTENCE_END
