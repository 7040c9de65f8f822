"""The graph without a language model: conflicts between documents, and relations that a text states explicitly.

Precision first: every edge is based on a sentence of each chunk. Similarity alone is not a relation, so the graph may
be empty.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from operator import itemgetter

from discorag.conflicts.detection import find_conflicts
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable, sentences_of
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import ChunkRelation, Edge, RhetoricalGraph
from discorag.schema.document import Chunk
from discorag.text.cues import stems


async def relate_chunks(inputs: AnswerInputs, encoder: Encoder) -> Outcome[RhetoricalGraph]:
    """The graph over ``inputs.chunks``, with at most one edge between two chunks.

    The edge is a conflict, else what one of the chunks states of the other. The encoder makes the vectors of sentences
    that the ingest did not store. Raises as `sentences_of`.
    """
    table = await sentences_of(inputs, encoder)
    return Outcome(value=await asyncio.to_thread(_graph, inputs, table))


def _graph(inputs: AnswerInputs, table: SentenceTable) -> RhetoricalGraph:
    conflicts = find_conflicts(inputs.query, inputs.chunks, table)
    own = [[table.sentences[k] for k in table.of_chunk(n + 1)] for n in range(len(inputs.chunks))]
    edges: list[Edge] = []
    for i, j in combinations(range(len(inputs.chunks)), 2):
        a, b = inputs.chunks[i], inputs.chunks[j]
        conflict = conflicts.get(frozenset((a.id, b.id)))
        edges += [conflict] if conflict else _stated_edge(a, b, own[i], own[j])
    return RhetoricalGraph(chunks=tuple(c.id for c in inputs.chunks), edges=tuple(edges))


def _stated_edge(a: Chunk, b: Chunk, one: Sequence[Sentence], other: Sequence[Sentence]) -> Iterator[Edge]:
    if a.doc_id != b.doc_id:
        stated = [*_stated_relations(a, b, one, other), *_stated_relations(b, a, other, one)]
        if stated:
            yield max(stated, key=itemgetter(0))[1]
    elif abs(a.order - b.order) == 1 and one and other:
        first, then, last, opening = (a, b, one[-1], other[0]) if a.order < b.order else (b, a, other[-1], one[0])
        if relation := opening_relation(opening.text):
            yield _edge(then, first, relation, opening, last)


def _edge(source: Chunk, target: Chunk, relation: ChunkRelation, says: Sentence, said_of: Sentence) -> Edge:
    return Edge(source=source.id, target=target.id, relation=relation, source_span=says.span, target_span=said_of.span)


_R = ChunkRelation

_SHARE = 0.5
"""The least share of the words governed by a cue that a sentence of the target has."""


def _cue(words: str, chinese: str) -> re.Pattern[str]:
    return re.compile("|".join([rf"\b(?:{words})\b", *map(re.escape, chinese.split())]), re.IGNORECASE)


CUES: Mapping[ChunkRelation, re.Pattern[str]] = {
    _R.PREVENTS: _cue(
        r"prevent(?:s|ed|ing)?|block(?:s|ed|ing)|inhibit(?:s|ed|ing)?|hinder(?:s|ed|ing)?"
        r"|imped(?:e|es|ed|ing)|avert(?:s|ed)?"
        r"|preclud(?:e|es|ed)|prohibit(?:s|ed|ing)?|forb(?:id|ids|ade|idden)|bann?(?:s|ed|ing)"
        r"|rul(?:es|ed) out|halt(?:s|ed)"
        r"|(?:makes?|made|making) \w+(?: \w+)? impossible|keeps? \w+ from|stop(?:s|ped) \w+(?: \w+){0,3} from",
        "阻止 防止 禁止 避免 阻碍",
    ),
    _R.ENABLES: _cue(
        r"enabl(?:e|es|ed|ing)|allow(?:s|ed|ing)?|permit(?:s|ted|ting)"
        r"|(?:makes?|made|making) (?:it )?(?:\w+ )?possible"
        r"|pav(?:e|es|ed|ing) the way|prerequisites?|precondition|(?:required|necessary|needed|essential) (?:for|to)"
        r"|open(?:s|ed) the (?:way|door)|la(?:ys?|id) the (?:foundations?|groundwork|basis)|makes? it easier|so that",
        "使得 允许 能够让 使之成为可能",
    ),
    _R.REPLACES: _cue(
        r"replac(?:e|es|ed|ing)|supersed(?:e|es|ed|ing)|substitut(?:e|es|ed|ing)(?: for)?|in place of"
        r"|takes? the place of"
        r"|took over from|took the place of|succeed(?:s|ed) (?:the|him|her)|instead of"
        r"|displac(?:e|es|ed)|repeal(?:s|ed)"
        r"|supplant(?:s|ed)?|rather than the (?:old|former|previous)|overturn(?:s|ed)|revok(?:es|ed)",
        "取代 代替 替代 废止",
    ),
    _R.CAUSES: _cue(
        r"caus(?:e|es|ed|ing)(?! by)|lead(?:s|ing)? to|led to|result(?:s|ed|ing)? in"
        r"|br(?:ings?|ought) about|trigger(?:s|ed|ing)"
        r"|g(?:ives?|ave) rise to|responsible for|produc(?:es|ed)|contribut(?:e|es|ed|ing) to|sparked"
        r"|provok(?:es|ed)",
        "导致 引起 造成 引发",
    ),
    _R.RESULTS_FROM: _cue(
        r"because(?: of)?|due to|owing to|caused by|result(?:s|ed|ing)? from|stem(?:s|med|ming)? from"
        r"|as a (?:result|consequence)"
        r"(?: of)?|consequence of|ar(?:ises?|ose) from|thanks to|attributed to|in response to|triggered by",
        "因为 由于 源于",
    ),
    _R.FOLLOWS: _cue(
        r"after|following the|subsequent to|in the wake of|in the aftermath of|once|since (?:the|then)",
        "在此之后 继",
    ),
    _R.PRECEDES: _cue(
        r"before|prior to|ahead of|in preparation for|leading up to|until|paved the way",
        "在此之前 早于",
    ),
}  # fmt: skip
"""Words that say how a chunk relates to what follows them in the sentence.

There are none for other relations (example, comparison, background ...): their cues occur in many sentences that relate
no chunks, and as many of the frozen pairs were right without them.
"""

_AT_START = 5  # characters: a cue here governs its clause up to the comma


def _stated_relations(
    source: Chunk, target: Chunk, sentences: Sequence[Sentence], others: Sequence[Sentence]
) -> Iterator[tuple[float, Edge]]:
    """The relations that sentences of a source state to a target, whose sentences are ``others``; each with its share.

    A cue counts if one sentence of the target has at least two of the words that it governs, and half of them.
    """
    words = [(other, _stems(other.text)) for other in others]
    for sentence in sentences:
        for relation, about in _claims(sentence.text):
            for other, own in words:
                share = len(about & own) / max(1, len(about))
                if len(about & own) >= 2 and share >= _SHARE:
                    yield share, _edge(source, target, relation, sentence, other)


_stems = lru_cache(maxsize=4096)(stems)


@lru_cache(maxsize=4096)
def _claims(sentence: str) -> tuple[tuple[ChunkRelation, frozenset[str]], ...]:
    """The relations that cues in a sentence name, each with the stems that the cue governs."""
    matches = ((relation, cue.search(sentence)) for relation, cue in CUES.items())
    return tuple((relation, _about(sentence, match)) for relation, match in matches if match)


def _about(sentence: str, match: re.Match[str]) -> frozenset[str]:
    """Stems of the part of a sentence that a cue governs."""
    behind = sentence[match.end() :]
    return stems(re.split(r"[,，]", behind, maxsplit=1)[0] if match.start() <= _AT_START else behind)


_OPENINGS: Mapping[ChunkRelation, str] = {
    _R.SIMULTANEOUS: "meanwhile|at the same time|simultaneously|in the meantime|与此同时|同时|在此期间",
    _R.SPECIFIES: "in particular|specifically|more precisely|具体来说|具体而言|尤其",
    _R.REPLACES: "instead|in its place|取而代之",
    _R.PRECEDES: "earlier|previously|before that|until then|此前|在此之前",
    _R.FOLLOWS: "later|since then|then|next,|finally|lastly|after that|afterwards|后来|然后|接着|随后|最后",
    _R.COMPARES_WITH: "however|but|yet|by contrast|in contrast|conversely|on the other hand|on the contrary|whereas"
    "|although|though|nevertheless|nonetheless|even so|despite|similarly|likewise|in comparison|compared (?:with|to)"
    "|但是|然而|不过|相反|虽然|尽管|同样|类似地",
    _R.EXEMPLIFIES: r"for example|for instance|e\.g\.|to illustrate|例如|比如|举例来说",
    _R.RESULTS_FROM: "therefore|thus|hence|consequently|accordingly|as a result|as a consequence|because of this"
    "|due to this|因此|所以|于是",
    _R.CAUSES: "because|due to|owing to|因为|由于|原因是",
    _R.SUPPORTS: "studies show|research shows|the data show|in other words|that is,|研究表明|数据显示|换句话说|换言之",
    _R.GENERALIZES: "in short|in sum|in summary|in conclusion|to conclude|overall,|in brief|总之|综上所述",
    _R.SUPPLEMENTS: "moreover|furthermore|in addition|additionally|besides|also|此外|另外|而且",
}
_OPENING = {r: re.compile(rf"[\W_]*(?:and\b\W*)?(?:{w})(?![a-z-])", re.IGNORECASE) for r, w in _OPENINGS.items()}


def opening_relation(sentence: str) -> ChunkRelation | None:
    """The relation to the chunk before it that a chunk states if ``sentence`` is its first one; None if none."""
    return next((relation for relation, words in _OPENING.items() if words.match(sentence)), None)
