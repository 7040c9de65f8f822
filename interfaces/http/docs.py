"""What ``/docs`` shows: a sentence for every call and a description of every field, from docstrings and `FIELDS`."""

from __future__ import annotations

import re
from typing import Any

Json = dict[str, Any]
FIELDS = {
    "Answer.plan": "What the answer says in which order; null without one.",
    "Answer.notes": "What a language model was asked for and did not do.",
    "Answer.disagreements": "Pairs of sources that disagree.",
    "Answer.answerable": "Probability that the evidence answers the question; null if not known.",
    "Body_ingest_ingest_post": "Files to store.",
    "ChatCompletion.disco_rag": "Not OpenAI's: the answer as `POST /ask` gives it.",
    "ChatMessage.content": "The answer as Markdown: sentences, sources, disagreements.",
    "ChatRequest.messages": "The conversation; the last message is the question, `system` messages say how to answer.",
    "ChatRequest.n": "Always one answer.",
    "ChunkTree.chunk": "The chunk, with its tree.",
    "Corpora.corpora": "By name.",
    "Disagreement.reason": "Why, in one sentence; empty if the engine does not know.",
    "Edge.reason": "Why, in one sentence; empty if the engine does not know.",
    "Edge.source": "Id of the chunk from which the relation goes.",
    "Edge.target": "Id of the chunk to which it goes.",
    "Failure.kind": "Name of the error.",
    "Failure.stage": "The stage that failed.",
    "Job.status": "How far the job is.",
    "Job.files": "In the order in which they were sent.",
    "JobFile.status": "What became of the document; null until it is read.",
    "JobFile.note": "Why it failed or was skipped.",
    "Levels.builder": "Whose tree this is; empty if none is stored.",
    "Levels.nodes": "The nodes that were asked for, level by level.",
    "Model.id": "Name of the pipeline, and after a slash the corpus.",
    "Model.created": "Always 0.",
    "ModelList.data": "Pipelines, then one entry for each corpus.",
    "Problem.error": "What went wrong, and what to do.",
    "Progress.failed": "Files that could not be read.",
    "Progress.settled": "Files that are done, with or without success.",
    "Readiness.status": "`ready`.",
    "Reference.chunk": "Number of the chunk, from 1.",
    "Reference.first": "First unit of the chunk, from 1; null: the whole chunk.",
    "Reference.last": "Last unit, inclusive.",
    "Reply.hits": "Retrieved chunks, best first.",
    "Reply.evidence": "Chunk id -> parts of it that were read; a chunk that is missing was read as a whole.",
    "RhetoricalGraph.chunks": "Ids, in retrieval order; their numbers start at 1.",
    "Session.keys": "Whether the server demands a key.",
    "Session.roles": "What the key may do: `read`, `write`, `operate`.",
    "Span.start": "First character, from 0.",
    "Span.end": "Character after the last one.",
    "Split.start": "First EDU, from 0.",
    "Split.mid": "First EDU of the second part.",
    "Split.end": "EDU after the last one.",
    "Split.relation": "Relation between the parts.",
    "Split.confidence": "How likely the split is right; null if the parser does not say.",
    "StageRecord.model": "Name of the model; empty if none was used.",
    "StageRecord.failures": "What went wrong in this stage.",
    "StageRecord.usage": "Tokens and calls of language models.",
    "Thread.switches": "Options of the thread's question.",
    "ThreadState.next": "The stage before which the run stopped; empty at its end.",
    "ThreadState.values": "What the stages have produced so far.",
    "Turn.role": "`user`, `assistant`; `system` and `developer` say how to answer.",
    "Turn.content": "The text, whole or in parts.",
    "TextPart.type": "Always `text`.",
    "Usage.calls": "Calls of language models.",
    "a": "One side.",
    "abstained": "Why the documents do not answer the question; empty if they do.",
    "accept": "`text/event-stream` for a stream.",
    "again": "A retry was asked for.",
    "also_in": "Names of other files with the same content.",
    "answer": "The verified answer, or why there is none.",
    "b": "The other side; of `REPLACES`, the newer one.",
    "beams_refused": "Calls for which the server refused beam search.",
    "builders": "Builders of which a tree is stored.",
    "checkpoint": "Where in the thread's history this is.",
    "choices": "The only choice.",
    "chunk": "Number or id of a chunk.",
    "chunk_id": "Id of the chunk.",
    "chunks": "Number of chunks.",
    "citations": "Numbers of each sentence's sources, from 1.",
    "code": "The status.",
    "completion_tokens": "Tokens that the model wrote.",
    "confidence": "Probability from the model that judged it; null if none did.",
    "content": "The text.",
    "content_hash": "Hash of the file's content.",
    "corpus": "Named set of documents.",
    "counts": "Further figures of the stage, by name.",
    "created": "When it was made.",
    "decisions": "Where the run went from here, and why.",
    "disk_hits": "Calls answered by our own disk cache.",
    "doc_id": "Id of the document, as `GET /documents` lists it.",
    "documents": "The documents, or how many there are.",
    "draft": "The answer with citations, before verification.",
    "edges": "At most one for every ordered pair of chunks.",
    "encoder": "Name and version of the embedding model.",
    "ended": "When it ended; null while it runs.",
    "engine": "`local`, `llm` or `off`; `llm+local` if the local engine made some parts.",
    "failures": "What went wrong.",
    "fallback": "What was used instead; empty: nothing.",
    "files": "The files.",
    "finding_id": "Id of the finding, as an audit lists it.",
    "finish_reason": "Always `stop`.",
    "graph": "Relations between the retrieved chunks; null without a graph.",
    "hint": "What to do.",
    "id": "Its id.",
    "ids": "Ids of chunks, as hits and graphs name them.",
    "include_usage": "Send the number of tokens at the end of the stream.",
    "index": "Always 0.",
    "job": "The job.",
    "job_id": "Id of the job, as `POST /ingest` returned it.",
    "language_model": "`none`, `reachable` or `unreachable`; without it the local engines answer.",
    "leaves": "Number of leaves of the tree.",
    "ledger": "What each stage cost.",
    "limit": "How many at most.",
    "logprobs": "Always null.",
    "max_completion_tokens": "Longest answer, in tokens of the language model.",
    "max_tokens": "The same, by its old name.",
    "media_type": "Type of the text, such as `text/markdown`.",
    "mermaid": "The tree as a Mermaid flowchart.",
    "message": "What happened, or what was said.",
    "model": "Name of the pipeline, as it was sent.",
    "name": "Name of the file, the corpus or the pipeline.",
    "nearest": "The closest passages, if there is no answer.",
    "nuclearity": "Which part is the nucleus.",
    "object": "OpenAI's name of this type.",
    "offset": "How many to skip.",
    "owned_by": "Always `disco-rag`.",
    "page": "Page on which it starts, from 1; null if the source has no pages.",
    "pages": "Where each page starts in the text, in characters.",
    "paragraph": "The plan; each sentence is a step.",
    "param": "The field that is wrong; null if it is none.",
    "parent": "The checkpoint before it; empty for the first.",
    "plan": "The plan as one paragraph.",
    "prompt_hash": "Hash of the prompt.",
    "prompt_tokens": "Tokens that the model read.",
    "prompt_tokens_details": "How many of them came from the server's prefix cache.",
    "query": "The question that was answered.",
    "references": "What the step cites, in order.",
    "relation": "Name of the relation.",
    "repairs": "Replies that were asked for once more.",
    "role": "Whose message it is.",
    "roots": "Number of roots of the tree.",
    "score": "Higher is better; scores of different questions do not compare.",
    "seconds": "Wall time.",
    "sentences": "Sentences of the answer, in order.",
    "source_span": "The sentence that carries the relation in its source, in document offsets; null if not known.",
    "sources": "The passages that sentences rest on, in the order of first citation.",
    "span": "Characters of the document's canonical text.",
    "stage": "Name of the stage.",
    "stages": "In the order in which they ended.",
    "status": "How it is.",
    "steps": "The plan's sentences with what they cite.",
    "stream": "Send sentences as they are verified.",
    "stream_options": "What a stream holds next to the answer.",
    "switches": "Options that differ from the defaults.",
    "target_span": "The same for its target.",
    "temperature": "Randomness of the language model.",
    "tenant": "Whose documents they are.",
    "text": "The text.",
    "thread_id": "Id of the thread.",
    "title": "Title of the document.",
    "tokens_cached": "Prompt tokens from the server's prefix cache.",
    "tokens_in": "Tokens that models read.",
    "tokens_out": "Tokens that models wrote.",
    "total": "How many there are.",
    "total_tokens": "Their sum.",
    "type": "Name of the error.",
    "unsure": "Whether the sentences are the closest passages, and no certain answer.",
    "usage": "Tokens of all calls; zero without a language model.",
}
"""What no docstring says: of ``Class.field``, or of all fields, parameters and classes of a name."""

BODIES: dict[str, Json] = {
    "AskRequest": {"query": "Does vitamin D prevent flu?", "corpus": "vitamin-d", "switches": {"retriever": "hybrid"}},
    "AuditRequest": {"corpus": "vitamin-d"},
    "Body_ingest_ingest_post": {"files": ["trial.md"], "corpus": "vitamin-d"},
    "ChatRequest": {"model": "disco-rag/vitamin-d", "messages": [{"role": "user", "content": "Does it prevent flu?"}]},
    "EditRequest": {"plan": "Start with [2.1]; set against it [1.3]."},
    "ForkRequest": {"checkpoint": "1f0c9b1e-7d3a-6f52-8001-3d1f5c2b7a90"},
    "NewThread": {"corpus": "vitamin-d"},
    "RunRequest": {"query": "Does vitamin D prevent flu?", "stop_before": ["generate"]},
    "Settlement": {"note": "The leaflet is out of date."},
}
"""An example of every body."""


def describe(api: Json) -> Json:
    """Complete an OpenAPI document in place: summaries, and descriptions of parameters and fields."""
    for name, schema in api["components"]["schemas"].items():
        text, of_fields = _split(schema.get("description", ""))
        schema["description"] = text or FIELDS.get(name, "")
        if name in BODIES:
            schema["examples"] = [BODIES[name]]
        for field, found in schema.get("properties", {}).items():
            known = of_fields.get(field) or FIELDS.get(f"{name}.{field}") or FIELDS.get(field)
            if known and "description" not in found:
                found["description"] = known
    for operation in (call for calls in api["paths"].values() for call in calls.values()):
        summary, _, rest = operation.get("description", "").partition("\n\n")
        operation |= {"summary": " ".join(summary.split()), "description": rest}
        for parameter in operation.get("parameters", ()):
            parameter.setdefault("description", FIELDS.get(parameter["name"], ""))
    return api


def _split(docstring: str) -> tuple[str, dict[str, str]]:
    """A docstring without its sections, and what its section ``Args`` says of each field."""
    text, *sections = re.split(r"\n\n(?=\w+:\n)", docstring)
    args = next((s for s in sections if s.startswith("Args:")), "")
    found = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", args, re.MULTILINE)
    return text, {name: " ".join(said.split()) for name, said in found}
