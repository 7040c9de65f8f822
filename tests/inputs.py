"""Cases over the example corpora, made without a store: read, cut, parse, rank."""

from dataclasses import replace
from pathlib import Path

from discorag import DiscoRAG
from discorag.config import RerankerSettings
from discorag.discourse.parse.rules import RuleParser
from discorag.discourse.relate import relate_chunks
from discorag.generation.calibration import find_calibration
from discorag.generation.plan_text import RulePlanEngine
from discorag.generation.selection import Selector
from discorag.ingest.loaders import load
from discorag.ingest.segment.chunks import cut_chunks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.survey import survey
from discorag.models.protocol import Encoder
from discorag.models.reranker import reranker_from
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk, Document, Scope
from discorag.schema.ledger import Ledger, StageRecord
from tests.conftest import EXAMPLES


async def chunks_of(document: Document, encoder: Encoder) -> list[Chunk]:
    hierarchy = build_hierarchy(document)
    chunks = cut_chunks(document, hierarchy, scope=Scope(), fingerprint="test", counter=encoder.tokens)
    return [c.model_copy(update={"tree": (await RuleParser().parse(c)).value}) for c in chunks]


async def load_inputs(corpus: str, query: str, encoder: Encoder, *, k: int = 10) -> AnswerInputs:
    """The query with the ``k`` best chunks of an example corpus."""
    documents = [load(Path(f), max_bytes=10**7) for f in survey(str(EXAMPLES / corpus)).files]
    chunks = [c for d in documents for c in await chunks_of(d, encoder)]
    scores = await encoder.encode_documents([c.text for c in chunks]) @ await encoder.encode_query(query)
    ranked = sorted(range(len(chunks)), key=lambda i: -float(scores[i]))
    return AnswerInputs(query=query, chunks=tuple(chunks[i] for i in ranked[:k]))


async def inputs_from(texts: dict[str, str], query: str, encoder: Encoder) -> AnswerInputs:
    """The query with one small document for each text, in order."""
    documents = [Document(uri=name, title=name, text=text) for name, text in texts.items()]
    return AnswerInputs(query=query, chunks=tuple([c for d in documents for c in await chunks_of(d, encoder)]))


async def with_graph(inputs: AnswerInputs, encoder: Encoder) -> AnswerInputs:
    return replace(inputs, graph=(await relate_chunks(inputs, encoder)).value)


async def with_plan(inputs: AnswerInputs, encoder: Encoder) -> AnswerInputs:
    return replace(inputs, plan=(await RulePlanEngine(selector_of(encoder)).plan(inputs)).value)


def selector_of(encoder: Encoder) -> Selector:
    """With the packaged reranker, and the calibration that belongs to it."""
    reranker = reranker_from(RerankerSettings())
    return Selector(encoder, reranker, find_calibration(reranker.version))


def stage_of(ledger: Ledger, name: str) -> StageRecord:
    """The record of one stage."""
    return next(record for record in ledger.stages if record.stage == name)


def stored(rag: DiscoRAG) -> list[tuple[str, str]]:
    """Ids and texts of all chunks."""
    chunks = (c for m in rag.documents() for c in rag.backends.store.chunks_of(rag.scope(), m.doc_id))
    return sorted((c.id, c.text) for c in chunks)
