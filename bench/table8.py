"""Disco-RAG's table 8, counted: ``python -m bench.table8`` writes eval/results/table8.json.

No model is asked: the prompts of six questions of Loong are counted (`eval.running.bill`), and the paper's system gets
trees of the chunks that it retrieves. Trees are not in the counts, as in the paper, which makes them beforehand.
"""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from bench.report import write
from discorag import DiscoRAG
from discorag.config import Settings, read_settings
from discorag.store.records import NOT_MADE
from eval.__main__ import HOME
from eval.metrics.base import MetricModels
from eval.options import data_folder
from eval.running.bill import Bill
from eval.running.session import Place, Session, open_pipeline
from eval.suite import load_suite

RESULTS = Path("eval/results/table8.json")
QUESTIONS = 6
CHUNKS = (10, 20, 30, 50)
CONTEXT = 131_072


def main() -> None:
    """Count each number of chunks of the table, and write the file."""
    with closing(open_pipeline(_settings(), HOME)) as rag:
        write(RESULTS, {str(k): asyncio.run(_count(rag, k)) for k in CHUNKS})


def _settings() -> Settings:
    """The settings with a model's context that holds fifty chunks with their trees."""
    settings = read_settings()
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"context_tokens": CONTEXT})})


async def _count(rag: DiscoRAG, k: int) -> dict[str, Any]:
    """Tokens of a question with ``k`` chunks, and what the paper's system takes for each that standard RAG takes."""
    systems = ("paper", "paper-standard")
    changes = {"systems": systems, "limit": QUESTIONS, "pool": "chosen", "parser": NOT_MADE, "top_k": k}
    suite = load_suite("loong").model_copy(update=changes)
    place = Place(data=data_folder(), home=HOME)
    bills = {b.system: b for b in await Session(suite, place, rag, MetricModels(), Console(stderr=True)).bill()}
    paper, standard = (bills[name] for name in systems)
    return {
        "paper": _each(paper, _total(paper)),
        "standard": _each(standard, _total(standard)),
        "ratio": round(_total(paper) / _total(standard), 1),
        "ratio read": round(paper.tokens_in / standard.tokens_in, 1),
        "paper in and out": {stage: [_each(paper, n) for n in spent] for stage, spent in paper.stages.items()},
    }


def _total(bill: Bill) -> int:
    return bill.tokens_in + bill.tokens_out


def _each(bill: Bill, tokens: int) -> int:
    return round(tokens / bill.questions)


if __name__ == "__main__":
    typer.run(main)
