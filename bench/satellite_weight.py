"""Why does the tree lose gold evidence on ASQA? Reads a run of ``python -m eval run asqa`` and its store.

Takes every piece of gold evidence that `standard-hybrid` used and `full-hybrid` did not, and looks at the unit that
holds it: how many satellite links hang above it, and whether it is selected when satellites weigh as much as nuclei.
Writes ``bench/results/satellite_weight.json``. Usage: ``python bench/satellite_weight.py [HOME]``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from discorag import DiscoRAG
from discorag.answer.selection import select
from discorag.claims import units
from discorag.settings import read_settings
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from eval.datasets.registry import load_benchmark
from eval.metrics.grounding import reached, touches
from eval.options import data_folder
from eval.running.corpus import Corpus, ingest
from eval.running.folder import load_run
from eval.running.record import Record
from eval.running.session import open_pipeline
from eval.sample import DocSpan, Gold, Sample
from eval.suite import chosen_from, load_suite

WITHOUT, WITH = "standard-hybrid", "full-hybrid"
OUT = Path("bench/results/satellite_weight.json")


def lost(samples: dict[str, Sample], records: tuple[Record, ...]) -> Iterator[tuple[Sample, Record, list[Gold]]]:
    """Questions at which the system with trees lost gold evidence that the one without used."""
    by = {(r.sample, r.system): r for r in records}
    for sample in samples.values():
        a, b = by[sample.id, WITHOUT], by[sample.id, WITH]
        gold = [g for g in sample.gold if reached(g, a.used) and not reached(g, b.used)]
        if gold:
            yield sample, b, gold


def chunks_of(rag: DiscoRAG, corpus: Corpus, record: Record) -> tuple[Chunk, ...]:
    """The chunks that were retrieved, best first."""
    scope, found = rag.scope(corpus=corpus.name), list[Chunk]()
    for place in record.evidence:
        chunks = rag.resources.store.chunks_of(scope, corpus.stored[place.doc])
        found += [c for c in chunks if c.span == place.span]
    return tuple(found)


async def main(home: Path) -> None:
    """Measure and write."""
    suite = load_suite("asqa")
    benchmark = chosen_from(load_benchmark(suite.dataset, data_folder() / suite.path), suite)
    rag = open_pipeline(read_settings(), home)
    corpus, encoder = await ingest(rag, benchmark, home), rag.resources.encoder
    _, records = load_run(home / "runs" / "asqa")
    depths, back = Counter[int](), 0
    for sample, record, gold in lost({s.id: s for s in benchmark.samples}, records):
        case = Case(query=sample.query, chunks=chunks_of(rag, corpus, record))
        table, query = await units.unit_table(case.chunks, encoder), await encoder.encode_query(sample.query)
        places = [DocSpan(doc=corpus.known[case.chunks[u.chunk - 1].doc_id], span=u.span) for u in table.units]
        weight, units.SATELLITE_WEIGHT = units.SATELLITE_WEIGHT, 1.0
        chosen = select(case, table, query).chosen
        units.SATELLITE_WEIGHT = weight
        for piece in gold:
            holding = [i for i, p in enumerate(places) if any(touches(p, g) for g in piece.anywhere)]
            depths[min(table.units[i].satellite_depth for i in holding)] += 1
            back += reached(piece, tuple(places[i] for i in chosen))
    rag.close()
    result = {
        "lost": depths.total(),
        "of them selected without the weight": back,
        "satellite links above the unit": dict(sorted(depths.items())),
    }
    OUT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".disco-rag/eval")))
