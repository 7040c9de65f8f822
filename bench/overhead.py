"""What the pipeline itself takes of a query: wall time less the encoder's and the language model's.

The model is scripted and answers at once, behind HTTP on loopback; what the HTTP client takes counts as the model's.
Verification is ours, its encoder calls are the encoder's.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles

from pydantic import BaseModel, ConfigDict

from bench.cost import check
from bench.questions import Library
from eval.sample import Sample

K = 10
WARM_UP = 2


class Times(BaseModel):
    """A query, or the medians of several, in milliseconds.

    Args:
        wall: Wall time.
        encoder: Inside calls of the encoder.
        model: Inside calls of the language model, HTTP client included.
        graph: Wall time that belongs to no stage: LangGraph and the facade.
        overhead: Ours: wall time less encoder and model.
        stages: Wall time of every stage by the ledger, models included.
        ours: The same less the models.
    """

    model_config = ConfigDict(frozen=True)

    wall: float
    encoder: float
    model: float
    graph: float
    overhead: float
    stages: dict[str, float]
    ours: dict[str, float]


class Overhead(BaseModel):
    """Over ``queries`` queries: the 90th percentile of the overhead in milliseconds, and the medians of everything."""

    model_config = ConfigDict(frozen=True)

    queries: int
    overhead_p90: float
    p50: Times


async def measure_overhead(library: Library, samples: Sequence[Sample]) -> Overhead:
    """Ask every question once with everything on, trees over EDUs, k = 10; the first questions also to warm up.

    Args:
        library: Its encoder must not remember what other measurements encoded.
        samples: At least two.
    """
    for sample in samples[:WARM_UP]:
        await _timed(library, sample)
    times = [await _timed(library, sample) for sample in samples]
    return Overhead(
        queries=len(times),
        overhead_p90=quantiles((t.overhead for t in times), n=10, method="inclusive")[-1],
        p50=Times(
            wall=median(t.wall for t in times),
            encoder=median(t.encoder for t in times),
            model=median(t.model for t in times),
            graph=median(t.graph for t in times),
            overhead=median(t.overhead for t in times),
            stages={name: median(t.stages[name] for t in times) for name in times[0].stages},
            ours={name: median(t.ours[name] for t in times) for name in times[0].ours},
        ),
    )


async def _timed(library: Library, sample: Sample) -> Times:
    encoder, model = library.encoder.watch.seconds, library.model.watch.seconds
    encoder.clear()
    model.clear()
    result = await library.rag.aask(sample.query, instruction=sample.instruction, top_k=K, corpus=library.edus)
    check(result)
    stages = {s.stage: s.seconds for s in result.ledger.stages}
    ours = {name: seconds - encoder[name] - model[name] for name, seconds in stages.items()}
    graph = result.seconds - sum(stages.values())
    return Times(
        wall=result.seconds * 1000,
        encoder=sum(encoder.values()) * 1000,
        model=sum(model.values()) * 1000,
        graph=graph * 1000,
        overhead=(graph + sum(ours.values())) * 1000,
        stages={name: seconds * 1000 for name, seconds in stages.items()},
        ours={name: seconds * 1000 for name, seconds in ours.items()},
    )
