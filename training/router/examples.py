"""Action curation (RDR² section 3.3, appendix A.1): what a router sees at a retrieved passage, and is to do there."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import prompts
from discorag import DiscoRAG
from discorag.options import resolve
from discorag.retrieval.retrievers import RDR2, begin_walks
from discorag.retrieval.routers.prompted import REFUSAL, LlmRouter, route_prompt
from discorag.retrieval.routers.walk import Decision, RetrievalSubtree, Walk
from discorag.retrieval.search import search_trees
from discorag.schema.errors import ModelError
from discorag.schema.values import Span
from eval.running.corpus import ingest
from eval.sample import Benchmark, Sample

Action = Literal["answer", "expand", "refuse"]
LABEL = Path(__file__).parent / "label.md"
_PREFIX_WORDS = 3


@dataclass(frozen=True)
class Example:
    """One step of a router: ``gold`` are places of the document that answer the question, ``action`` what to do."""

    question: str
    subtree: RetrievalSubtree
    gold: tuple[Span, ...]
    action: Decision = field(default_factory=Decision)

    @property
    def kind(self) -> Action:
        """As table 3 counts examples: one that answers and expands is an answer."""
        return "answer" if self.action.answer else "expand" if self.action.expand else "refuse"


async def steps(rag: DiscoRAG, benchmark: Benchmark, home: Path, passages: int) -> list[Example]:
    """The first step at each of a question's best passages, without an action yet; equal ones once.

    Passages come from all documents of the benchmark, so that some lie in documents that do not answer.
    """
    corpus = await ingest(rag, benchmark, home)
    backends, scope = rag.backends, rag.scope(corpus=corpus.name)
    resolved = resolve({"preset": "rdr2", "node_k": passages}, {}, has_model=True)
    tools, options = backends.tree_tools("local"), resolved.options.tree_options
    unrouted, found = replace(RDR2, routed=False), list[Example]()
    for sample in benchmark.samples:
        search = await search_trees(unrouted, tools, backends.store, scope, sample.query, {}, options)
        if search.query is None:
            continue
        documents = search.query.scores.forest.documents
        for place, walk in begin_walks(search.query).items():
            gold = tuple(_places(sample, corpus.known[documents[place]]))
            starts = (Walk.begin(walk.tree, [leaf]).subtree for leaf in walk.retrieved)
            found += [Example(sample.query, s, gold) for s in {s.passages: s for s in starts}.values()]
    return found


def _places(sample: Sample, document: str) -> Iterable[Span]:
    return (p.span for gold in sample.gold for p in gold.anywhere if p.doc == document)


def by_answers(example: Example) -> Decision:
    """The action by gold evidence: the passages that hold some, and the headings that hide such passages."""

    def holds(leaf: int) -> bool:
        [own] = example.subtree.tree.nodes[leaf].spans
        return any(own.start < place.end and place.start < own.end for place in example.gold)

    subtree = example.subtree
    headings = tuple(node for node in subtree.collapsed if any(map(holds, subtree.hidden(node))))
    return Decision(tuple(filter(holds, subtree.passages)), headings)


async def label(rag: DiscoRAG, found: Iterable[Example], *, by_a_model: bool) -> list[Example]:
    """The examples with their actions, which gold evidence decides, or the ``router`` model.

    The model reads the prompt of curation (C.1, in our words), without the answer. If its reply cannot be read, the
    example is left out.
    """
    template = prompts.parse(LABEL.stem, LABEL.read_text(encoding="utf-8"))
    router = LlmRouter(rag.backends.require_model("router"), template) if by_a_model else None
    labelled: list[Example] = []
    for example in found:
        with suppress(ModelError):
            action = await router.decide(example.question, example.subtree) if router else by_answers(example)
            labelled.append(replace(example, action=action))
    return labelled


def write_decision(decision: Decision, subtree: RetrievalSubtree) -> str:
    """A decision as a trained router writes it: ``[ANSWER] 8: first words``, ``[EXPAND] 7: heading``, or `REFUSAL`."""
    chosen = {"ANSWER": decision.answer, "EXPAND": decision.expand}
    lines = {line.node: f"{line.id}: {' '.join(line.text.split()[:_PREFIX_WORDS])}" for line in subtree.lines}
    return "\n".join(f"[{tag}] {lines[node]}" for tag, nodes in chosen.items() for node in nodes) or REFUSAL


def write(examples: Sequence[Example], file: Path) -> Counter[Action]:
    """Prompts and completions, a line each, for `training.sft`; returns how many there are of each action."""
    template = prompts.load("route")
    with file.open("w", encoding="utf-8") as lines:
        for example in examples:
            prompt = route_prompt(template, example.question, example.subtree)
            completion = write_decision(example.action, example.subtree)
            line = {
                "prompt": [{"role": "user", "content": prompt}],
                "completion": [{"role": "assistant", "content": completion}],
            }
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
    return Counter(example.kind for example in examples)
