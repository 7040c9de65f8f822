"""What a query costs in tokens, by two measures.

(a) Disco-RAG's table 8: prompt and output tokens, summed over all calls of a query.
(b) Prompt tokens that a server with a prefix cache computes: of each prompt, what no earlier request of the same query
    holds (`bench.prefix_cache`, blocks of 16). Queries share nothing here but what they share with themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pydantic import BaseModel, ConfigDict

from bench.prefix_cache import PrefixCache
from bench.questions import Library
from bench.tokens import Tokenizer
from bench.watch import Exchange
from discorag.models.protocol import Message
from discorag.rst.as_printed import drawn
from discorag.rst.inline import escape
from discorag.types.chunk import Chunk
from discorag.types.errors import InvariantError
from discorag.types.rst_relations import PAPER_RELATIONS
from eval.sample import Sample
from graphs.facade import AskResult
from prompts import load

OFF: dict[str, Any] = {"use_tree": False, "use_graph": False, "use_plan": False}
PAPER: dict[str, Any] = {"preset": "paper", "parser": "local", "beam_width": 1}


@dataclass(frozen=True)
class System:
    """A row of the table: the answer graph under switches.

    Args:
        name: Shown.
        edus: Whether the stored trees are over clause-like units; else over sentences.
        switches: Fields of `AnswerContext`.
        tree_calls: Whether the calls that make the chunks' trees are counted too (the paper's prompt, fig. 10).
    """

    name: str
    edus: bool = False
    switches: dict[str, Any] = field(default_factory=dict[str, Any])
    tree_calls: bool = False


STANDARD = System("standard RAG", switches=OFF)
SENTENCES = System("ours, sentence trees")
EDUS = System("ours, EDU trees", edus=True)
PAPER_STORED = System("paper, trees stored", edus=True, switches=PAPER)
PAPER_CALLS = System("paper, trees made", edus=True, switches=PAPER, tree_calls=True)
SYSTEMS = (
    STANDARD,
    System("standard RAG, paper's prompt", switches={**PAPER, **OFF}),
    SENTENCES,
    EDUS,
    PAPER_STORED,
    PAPER_CALLS,
)


class Cost(BaseModel):
    """Tokens of one query: ``prompt`` + ``output`` is (a), ``recomputed`` is (b)."""

    model_config = ConfigDict(frozen=True)

    calls: int
    prompt: int
    output: int
    recomputed: int

    @property
    def total(self) -> int:
        """Measure (a)."""
        return self.prompt + self.output


class Row(BaseModel):
    """One system at one k: medians over the queries, and medians of each query's ratio to standard RAG."""

    model_config = ConfigDict(frozen=True)

    system: str
    k: int
    queries: int
    calls: float
    prompt: float
    output: float
    total: float
    recomputed: float
    total_ratio: float
    recomputed_ratio: float


def cost_of(exchanges: Iterable[Exchange], tokenizer: Tokenizer) -> Cost:
    """The cost of a query's calls, in their order.

    The token that ends a turn counts as output, and is not held: a server never computes what was sampled last.
    """
    cache, counts = PrefixCache(), list[tuple[int, int, int]]()
    for exchange in exchanges:
        prompt, output = tokenizer.prompt(exchange.messages), tokenizer.text(exchange.text)
        counts.append((len(prompt), len(output) + 1, len(prompt) - cache.reused(prompt)))
        cache.hold([*prompt, *output])
    prompt, output, recomputed = (sum(column) for column in zip(*counts, strict=True))
    return Cost(calls=len(counts), prompt=prompt, output=output, recomputed=recomputed)


async def measure(
    library: Library, systems: Sequence[System], samples: Sequence[Sample], k: int, tokenizer: Tokenizer
) -> list[Row]:
    """A row for each system, the first being standard RAG, over the same questions with the same chunks."""
    found: dict[str, list[Cost]] = {s.name: [] for s in systems}
    for sample in samples:
        texts: set[frozenset[str]] = set()  # near ties may come in either order
        for system in systems:
            exchanges, chunks = await _asked(library, system, sample, k)
            found[system.name].append(cost_of(exchanges, tokenizer))
            texts.add(frozenset(c.text for c in chunks))
        if len(texts) > 1:
            raise InvariantError(f"Systems retrieved different chunks for {sample.id}.", hint="Ingest again.")
    base = found[systems[0].name]
    return [_row(s.name, k, found[s.name], base) for s in systems]


async def _asked(library: Library, system: System, sample: Sample, k: int) -> tuple[list[Exchange], tuple[Chunk, ...]]:
    """What one system asks and is told for one question, and the chunks it was about."""
    corpus = library.edus if system.edus else library.sentences
    library.model.exchanges.clear()
    switches: dict[str, Any] = {**system.switches, "top_k": k, "corpus": corpus}
    result = await library.rag.aask(sample.query, instruction=sample.instruction, **switches)
    check(result)
    scope, ids = library.rag.scope(corpus=corpus), [hit.chunk_id for hit in result.hits]
    chunks = tuple(library.rag.resources.store.chunks(scope, ids))
    trees = [tree_call(c) for c in chunks] if system.tree_calls else []
    return [*trees, *library.model.exchanges], chunks


def check(result: AskResult) -> None:
    """Raises `InvariantError` if a stage fell back or repaired: then it is not the pipeline that is measured."""
    if result.ledger.failures or result.ledger.usage.repairs:
        raise InvariantError(f"The scripted model was not accepted: {result.ledger.failures}.")


def tree_call(chunk: Chunk) -> Exchange:
    """The call by which the paper's prompt makes a chunk's tree, and the stored tree as the reply (fig. 10)."""
    prompt = load("paper-tree").render(relations=", ".join(PAPER_RELATIONS), chunk=escape(chunk.text))
    return Exchange("parse", (Message(role="user", content=prompt),), drawn(chunk))


def _row(name: str, k: int, costs: Sequence[Cost], base: Sequence[Cost]) -> Row:
    return Row(
        system=name,
        k=k,
        queries=len(costs),
        calls=median(c.calls for c in costs),
        prompt=median(c.prompt for c in costs),
        output=median(c.output for c in costs),
        total=median(c.total for c in costs),
        recomputed=median(c.recomputed for c in costs),
        total_ratio=median(c.total / b.total for c, b in zip(costs, base, strict=True)),
        recomputed_ratio=median(c.recomputed / b.recomputed for c, b in zip(costs, base, strict=True)),
    )
