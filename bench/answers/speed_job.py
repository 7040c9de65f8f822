"""One job of `bench.answers.speed` as a process of its own, in the working tree of either commit.

It imports only what both trees have: ``python -P speed_job.py ingest FOLDER`` or ``... ask QUESTION ...``, with
``DISCO_RAG_STORE__PATH`` set. ``ask`` prints milliseconds of processor time of each question and of each floor.
"""

from __future__ import annotations

import json
import sys
import time

from bench.floor import floor_s
from discorag import DiscoRAG


def ask(rag: DiscoRAG, questions: list[str]) -> dict[str, list[float]]:
    """Every question is asked once before it is timed, so that models are loaded and its documents are known."""
    asks: list[float] = []
    floors: list[float] = []
    for timed in (False, True):
        for question in questions:
            start = time.process_time()
            rag.ask(question)
            asks += [1000 * (time.process_time() - start)] * timed
            floors += [1000 * floor_s(rag, question)] * timed
    return {"ask_ms": asks, "floor_ms": floors}


def main(job: str, *arguments: str) -> None:
    """Run the job."""
    with DiscoRAG() as rag:
        if job == "ingest":
            rag.ingest(arguments[0])
        else:
            print(json.dumps(ask(rag, list(arguments))))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
