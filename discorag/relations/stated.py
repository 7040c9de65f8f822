"""Finer labels from what a text states: words that name a relation, openings, dates, polarity and figures.

The learned model tells families of relations apart; what is said in so many words decides between their labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from discorag.claims import cues
from discorag.claims.effects import stems
from discorag.rst.markers import opening
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.rst_relations import Relation

_R = ChunkRelation

SYMMETRIC = frozenset({_R.CONTRADICTS, _R.CONTRASTS_WITH, _R.COMPARES_WITH, _R.SIMULTANEOUS, _R.SUPPLEMENTS})
INVERSE: Mapping[ChunkRelation, ChunkRelation] = {
    _R.CAUSES: _R.RESULTS_FROM, _R.RESULTS_FROM: _R.CAUSES, _R.PRECEDES: _R.FOLLOWS, _R.FOLLOWS: _R.PRECEDES,
    _R.GENERALIZES: _R.SPECIFIES, _R.SPECIFIES: _R.GENERALIZES, **{r: r for r in SYMMETRIC},
}  # fmt: skip
"""What a relation is when it is read from the target to the source, where the inventory has a word for it."""


STATED, COMMON = 0.5, 0.75
"""Share of the words that a cue governs which a sentence of the target must have: by a clear cue, by a common one."""


class About(Enum):
    """Which part of a sentence speaks of the other chunk: behind the cue, or any."""

    AFTER = "after"
    ANY = "any"


@dataclass(frozen=True, eq=False)
class Cue:
    """Words by which a chunk says how it relates to what the sentence speaks of.

    Example:
        >>> from discorag.relations.stated import cues_in
        >>> [str(found.cue.relation) for found in cues_in("The dam prevents floods in the lower valley.")]
        ['PREVENTS']
    """

    relation: ChunkRelation
    pattern: re.Pattern[str]
    about: About


def _cue(relation: ChunkRelation, about: About, words: str, chinese: str = "") -> Cue:
    parts = [rf"\b(?:{words})\b", *(re.escape(w) for w in chinese.split())]
    return Cue(relation, re.compile("|".join(parts), re.IGNORECASE), about)


CUES: tuple[Cue, ...] = (
    _cue(
        _R.PREVENTS, About.AFTER,
        r"prevent(?:s|ed|ing)?|block(?:s|ed|ing)|inhibit(?:s|ed|ing)?|hinder(?:s|ed|ing)?"
        r"|imped(?:e|es|ed|ing)|avert(?:s|ed)?"
        r"|preclud(?:e|es|ed)|prohibit(?:s|ed|ing)?|forb(?:id|ids|ade|idden)|bann?(?:s|ed|ing)"
        r"|rul(?:es|ed) out|halt(?:s|ed)"
        r"|(?:makes?|made|making) \w+(?: \w+)? impossible|keeps? \w+ from|stop(?:s|ped) \w+(?: \w+){0,3} from",
        "阻止 防止 禁止 避免 阻碍",
    ),
    _cue(
        _R.ENABLES, About.AFTER,
        r"enabl(?:e|es|ed|ing)|allow(?:s|ed|ing)?|permit(?:s|ted|ting)"
        r"|(?:makes?|made|making) (?:it )?(?:\w+ )?possible"
        r"|pav(?:e|es|ed|ing) the way|prerequisites?|precondition|(?:required|necessary|needed|essential) (?:for|to)"
        r"|open(?:s|ed) the (?:way|door)|la(?:ys?|id) the (?:foundations?|groundwork|basis)|makes? it easier|so that",
        "使得 允许 能够让 使之成为可能",
    ),
    _cue(
        _R.REPLACES, About.AFTER,
        r"replac(?:e|es|ed|ing)|supersed(?:e|es|ed|ing)|substitut(?:e|es|ed|ing)(?: for)?|in place of"
        r"|takes? the place of"
        r"|took over from|took the place of|succeed(?:s|ed) (?:the|him|her)|instead of"
        r"|displac(?:e|es|ed)|repeal(?:s|ed)"
        r"|supplant(?:s|ed)?|rather than the (?:old|former|previous)|overturn(?:s|ed)|revok(?:es|ed)",
        "取代 代替 替代 废止",
    ),
    _cue(
        _R.SIMULTANEOUS, About.ANY,
        r"meanwhile|at the same time|simultaneous(?:ly)?|in the meantime|concurrent(?:ly)?"
        r"|the same (?:day|week|month|year)"
        r"|at that time|at the time of|during the same|in parallel|coincid(?:e|es|ed|ing) with",
        "与此同时 同时 同一天 同年",
    ),
    _cue(
        _R.EXEMPLIFIES, About.ANY,
        r"for (?:example|instance)|such as|(?:one|an|another|prime|good) example|examples? (?:of|is|are|include)"
        r"|case in point|illustrat(?:e|es|ed|ing)|to name a few|exemplif(?:y|ies|ied)|one such",
        "例如 比如 譬如",
    ),
    _cue(
        _R.GENERALIZES, About.ANY,
        r"in general|generally|as a rule|overall|on average|on the whole|in most cases|broadly|by and large"
        r"|in all (?:cases|countries)|across all|more generally|these and other|all (?:such|kinds of)"
        r"|always|typically",
        "总的来说 一般来说 总体上 通常 普遍",
    ),
    _cue(
        _R.SPECIFIES, About.ANY,
        r"in particular|specifically|particularly|especially|namely|more precisely|to be (?:precise|exact)|in detail"
        r"|exactly|precisely|consist(?:s|ed) of|as follows|the following",
        "具体来说 尤其是 特别是 即",
    ),
    _cue(
        _R.MOTIVATES, About.ANY,
        r"motivat(?:e|es|ed|ing|ion)|inspir(?:e|es|ed|ing)|spurr?(?:s|ed|ing)?|encourag(?:e|es|ed|ing)"
        r"|prompt(?:s|ed|ing)"
        r"|urg(?:e|es|ed|ing)|call(?:s|ed)? for|need for action|incentives?|in the hope|want(?:s|ed) to"
        r"|is worth|must act"
        r"|pressing need|dr(?:ove|ives) \w+ to",
        "激励 促使 鼓励 呼吁",
    ),
    _cue(
        _R.JUSTIFIES, About.ANY,
        r"justif(?:y|ies|ied|ying|ication)|the reasons? (?:is|are|for|why)|this is why|that is why"
        r"|rationale|on the grounds"
        r"|warrant(?:s|ed)|entitle(?:s|d)|defend(?:s|ed) the|reasonable to|for (?:this|these|safety|legal) reasons?"
        r"|legitimate|for the sake of|in the interests? of",
        "理由是 正当 依据 之所以",
    ),
    _cue(
        _R.COMPARES_WITH, About.ANY,
        r"compar(?:e|es|ed|ing|ison|able)(?: (?:with|to))?|similarly|likewise|as \w+ as"
        r"|(?:more|less|\w{3,}er) than|unlike"
        r"|versus|in contrast|by contrast|whereas|relative to|just like|resembl(?:e|es|ed)|differs? from|both",
        "相比 类似 与之相比 不同于",
    ),
    _cue(
        _R.CAUSES, About.AFTER,
        r"caus(?:e|es|ed|ing)(?! by)|lead(?:s|ing)? to|led to|result(?:s|ed|ing)? in"
        r"|br(?:ings?|ought) about|trigger(?:s|ed|ing)"
        r"|g(?:ives?|ave) rise to|responsible for|produc(?:es|ed)|contribut(?:e|es|ed|ing) to|sparked"
        r"|provok(?:es|ed)",
        "导致 引起 造成 引发",
    ),
    _cue(
        _R.RESULTS_FROM, About.AFTER,
        r"because(?: of)?|due to|owing to|caused by|result(?:s|ed|ing)? from|stem(?:s|med|ming)? from"
        r"|as a (?:result|consequence)"
        r"(?: of)?|consequence of|ar(?:ises?|ose) from|thanks to|attributed to|in response to|triggered by",
        "因为 由于 源于",
    ),
    _cue(
        _R.FOLLOWS, About.AFTER,
        r"after|following the|subsequent to|in the wake of|in the aftermath of|once|since (?:the|then)",
        "在此之后 继",
    ),
    _cue(
        _R.PRECEDES, About.AFTER,
        r"before|prior to|ahead of|in preparation for|leading up to|until|paved the way",
        "在此之前 早于",
    ),
    _cue(
        _R.SUPPORTS, About.ANY,
        r"confirm(?:s|ed|ing)?|evidence|demonstrat(?:e|es|ed)"
        r"|(?:study|studies|data|results?|trial|survey|experiments?) "
        r"(?:show|shows|showed|found|finds?|suggests?|indicates?)|consistent with|corroborat(?:e|es|ed)"
        r"|support(?:s|ed) (?:the|this)"
        r"|in line with|agree(?:s|d)? with|replicat(?:es|ed)",
        "证实 证据 研究表明 支持",
    ),
    _cue(
        _R.BACKGROUND_FOR, About.ANY,
        r"historically|traditionally|ha(?:s|ve) long|was founded"
        r"|(?:was|were) (?:first )?(?:introduced|established|created|built)"
        r"|originat(?:es|ed)|dates? back|(?:is|are) (?:called|known as|defined as)|refers to|background|context",
        "历史上 传统上 起源于 是指 背景",
    ),
)  # fmt: skip
"""The stated cues. Not all weigh the same: `stated` takes the one whose words speak most of the other chunk."""

# Words that stand in many sentences without relating chunks.
_WEAK = frozenset(
    {_R.SIMULTANEOUS, _R.GENERALIZES, _R.SPECIFIES, _R.COMPARES_WITH, _R.BACKGROUND_FOR, _R.EXEMPLIFIES, _R.FOLLOWS}
)


_AT_START = 5  # characters: a cue here governs its clause up to the comma


@dataclass(frozen=True)
class Found:
    """A cue in a sentence, and the stems of the part that speaks of the other chunk.

    Example:
        >>> from discorag.relations.stated import cues_in
        >>> [sorted(found.about) for found in cues_in("The dam prevents floods in the lower valley.")]
        [['flood', 'valle']]
    """

    cue: Cue
    about: frozenset[str]


@lru_cache(maxsize=8192)
def cues_in(sentence: str) -> tuple[Found, ...]:
    """The cues of a sentence, each at its first place."""
    matches = ((cue, cue.pattern.search(sentence)) for cue in CUES)
    return tuple(Found(cue, _about(cue, sentence, m)) for cue, m in matches if m)


def _about(cue: Cue, sentence: str, match: re.Match[str]) -> frozenset[str]:
    if cue.about is About.AFTER:
        behind = sentence[match.end() :]
        return stems(re.split(r"[,，]", behind, maxsplit=1)[0] if match.start() <= _AT_START else behind)
    return stems(sentence)


@dataclass(frozen=True)
class Stated:
    """A relation that the source's words state, and what share of them speaks of the target.

    Example:
        >>> from discorag.relations.stated import stated
        >>> from discorag.claims.effects import stems
        >>> found = stated(["The dam prevents floods in the valley."], [stems("Floods filled the valley.")])
        >>> str(found.relation), found.share
        ('PREVENTS', 1.0)
    """

    relation: ChunkRelation
    share: float


def stated(sentences: Iterable[str], other: Sequence[frozenset[str]]) -> Stated | None:
    """What the sentences of a source say that it is to a target; None if nothing.

    A cue counts if one sentence of the target has at least two of the words that it governs, and half of them; for
    words that are common without relating anything (especially, at that time), three quarters.

    Args:
        sentences: Of the source.
        other: Stems of each sentence of the target.
    """
    best: Stated | None = None
    for found in (f for s in sentences for f in cues_in(s)):
        shared = max((len(found.about & o) for o in other), default=0)
        share = shared / max(1, len(found.about))
        needed = COMMON if found.cue.relation in _WEAK else STATED
        if shared >= 2 and share >= needed and (best is None or share > best.share):
            best = Stated(found.cue.relation, share)
    return best


_OPENINGS: Mapping[Relation, ChunkRelation] = {
    Relation.CONTRAST: _R.COMPARES_WITH, Relation.ANTITHESIS: _R.COMPARES_WITH, Relation.CONCESSION: _R.COMPARES_WITH,
    Relation.COMPARISON: _R.COMPARES_WITH, Relation.EXAMPLE: _R.EXEMPLIFIES, Relation.CAUSE: _R.CAUSES,
    Relation.CONSEQUENCE: _R.RESULTS_FROM, Relation.EVIDENCE: _R.SUPPORTS,
    Relation.EXPLANATION: _R.JUSTIFIES, Relation.RESTATEMENT: _R.SUPPORTS, Relation.SUMMARY: _R.GENERALIZES,
    Relation.SEQUENCE: _R.FOLLOWS, Relation.JOINT: _R.SUPPLEMENTS, Relation.BACKGROUND: _R.BACKGROUND_FOR,
}  # fmt: skip
_AT_ONCE = re.compile(
    r"[\W_]*(?:meanwhile|at the same time|simultaneously|in the meantime|与此同时|同时|在此期间)", re.I
)
_LATER = re.compile(r"[\W_]*(?:later|since then|later on|后来|从那时起)", re.I)
_EARLIER = re.compile(r"[\W_]*(?:earlier|previously|before that|until then|此前|在此之前)", re.I)
_PARTICULAR = re.compile(r"[\W_]*(?:in particular|specifically|more precisely|具体来说|具体而言|尤其)", re.I)
_INSTEAD = re.compile(r"[\W_]*(?:instead|in its place|取而代之)", re.I)
_FIRST_TESTED = (
    (cues.OPENING_EXAMPLE, _R.EXEMPLIFIES),
    (cues.OPENING_RESULT, _R.RESULTS_FROM),
    (cues.OPENING_TIME, _R.FOLLOWS),
    (_AT_ONCE, _R.SIMULTANEOUS),
    (_LATER, _R.FOLLOWS),
    (_EARLIER, _R.PRECEDES),
    (_PARTICULAR, _R.SPECIFIES),
    (_INSTEAD, _R.REPLACES),
)


def opening_relation(sentence: str) -> ChunkRelation | None:
    """What a chunk that opens with ``sentence`` says that it is to the chunk before it in its document."""
    for pattern, relation in _FIRST_TESTED:
        if pattern.match(sentence):
            return relation
    marker = opening(sentence)
    return _OPENINGS.get(marker.relation) if marker else None


def by_date(source: tuple[int, ...], target: tuple[int, ...]) -> ChunkRelation | None:
    """PRECEDES or FOLLOWS where the years of two texts do not overlap, None otherwise.

    Args:
        source: Years of the source, ascending.
        target: Years of the target.
    """
    if not source or not target:
        return None
    if source[-1] < target[0]:
        return _R.PRECEDES
    return _R.FOLLOWS if source[0] > target[-1] else None
