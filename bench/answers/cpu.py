"""Processor time of a question whose vectors are known, in floors: one encoding and one hybrid search."""

from __future__ import annotations

import time
from statistics import median

from rich.progress import Progress

from bench.answers.asked import Asker, filters_of
from bench.answers.sets import Run
from bench.floor import floor_s
from discorag import DiscoRAG

QUESTIONS = 30


def cpu_floors(rag: DiscoRAG, asker: Asker, run: Run, progress: Progress) -> dict[str, float]:
    """Medians over `QUESTIONS` questions of milliseconds of processor time; their evidence's vectors are known.

    All are asked once before they are timed, so that no question's own vector is remembered: there are more of them
    than `MemoEncoder` keeps. A floor is one encoding of the question by torch in fp32 and one hybrid search for ten
    chunks.
    """
    corpus, samples = asker.ingested(run), run.benchmark.samples[:QUESTIONS]
    asks: list[float] = []
    floors: list[float] = []
    for timed in (False, True):
        for sample in progress.track(samples, description="cpu_floors"):
            filters = filters_of(run, sample, corpus)
            start = time.process_time()
            rag.ask(sample.query, filters=filters, corpus=corpus.name)
            asks += [time.process_time() - start] * timed
            floors += [floor_s(rag, sample.query, corpus=corpus.name, filters=filters)] * timed
    floor, ask = 1000 * median(floors), 1000 * median(asks)
    return {"ask_ms": round(ask, 1), "floor_ms": round(floor, 1), "floors": round(ask / floor, 3)}
