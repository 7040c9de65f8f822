"""What ``preset=paper`` reads, counted with the packaged tokenizer: a model's own differs by a tenth or two."""

from itertools import pairwise, permutations
from pathlib import Path

import pytest

from discorag.generation.prompted.paper import PaperEngine
from discorag.generation.prompted.prose import Sampling
from discorag.models.tokens import PackagedTokens
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import ChunkRelation, Edge, Nuclearity, Plan, Relation, RhetoricalGraph, RstTree, Split
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from eval.running.bill import EDU_TOKENS, CountingModel
from nodes.backends import paper_templates
from tests.strategies import chunk_over

TOKENS = PackagedTokens()
PROSE = 2 * "\n\n".join(path.read_text("utf-8") for path in sorted(Path("examples").rglob("*.md")))


def _chunk(number: int) -> Chunk:
    """256 tokens of real prose in EDUs of `EDU_TOKENS`, under a tree as deep as can be."""
    offsets = TOKENS.token_offsets([PROSE[number * 900 : number * 900 + 3000]])[0][:256]
    text = PROSE[number * 900 :][offsets[0][0] : offsets[-1][1]]
    first = offsets[0][0]
    starts = [start - first for start, _ in offsets[::EDU_TOKENS]]
    cut = (text[a:b] for a, b in pairwise([*starts, len(text)]))
    edus = tuple(Span(start=start, end=start + len(piece.rstrip())) for start, piece in zip(starts, cut, strict=True))
    n = len(edus)
    splits = tuple(
        Split(start=i, mid=i + 1, end=n, relation=Relation.CIRCUMSTANCE, nuclearity=Nuclearity.NS) for i in range(n - 1)
    )
    return chunk_over(text, RstTree(edus=edus, splits=splits), id=f"c{number}", sentences=edus)


@pytest.mark.parametrize("k", [10, 50])
async def test_plan_and_answer_over_chunks_of_256_tokens_fit_a_context_of_128_thousand(k: int) -> None:
    chunks = tuple(map(_chunk, range(k)))
    assert all(len(TOKENS.token_offsets([c.text])[0]) == 256 for c in chunks)
    pairs = permutations((c.id for c in chunks), 2)
    longest = ChunkRelation.CONTRASTS_WITH
    graph = RhetoricalGraph(
        chunks=tuple(c.id for c in chunks), edges=tuple(Edge(source=a, target=b, relation=longest) for a, b in pairs)
    )
    engine = PaperEngine(CountingModel(TOKENS), paper_templates(), Sampling(beam_width=3))
    inputs = AnswerInputs(query="Why?", chunks=chunks, graph=graph, plan=Plan(paragraph="word " * 1024))
    written = [piece async for piece in engine.answer(inputs, structured=True) if isinstance(piece, Outcome)]
    for outcome in (await engine.plan(inputs), *written):
        assert outcome.usage.tokens_in + engine.sampling.for_answer(k) < 128_000
        assert outcome.usage.tokens_in > 256 * k
