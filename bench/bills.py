"""What a question costs a language model, suite by suite: ``python -m bench.bills`` writes eval/results/bills.json.

No model is asked: the real prompts are counted (`eval.running.bill`). Documents are stored without the trained parser's
trees, which these systems do not read.
"""

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bench.report import package_version, to_json
from discorag.config import read_settings
from eval.__main__ import HOME
from eval.metrics.base import MetricModels
from eval.options import data_folder
from eval.running.bill import ASSUMED, Bill
from eval.running.session import Place, Session, open_pipeline
from eval.suite import Suite, load_suite

RESULTS = Path("eval/results/bills.json")
SYSTEMS = ("written", "written-standard", "standard", "full-context")
COUNTS = {"questions", "calls", "tokens_in", "cached", "tokens_out"}
"""Fields of a bill that are written."""
QUESTIONS = {
    **dict.fromkeys(("asqa", "qasper", "quality", "qmsum", "fairytaleqa", "hotpotqa", "lay-summaries"), 5),
    "loong": 2,
}
"""Questions of each suite. Documents of Loong are long: no full context is counted, which would be cut anyway."""


def main(suites: Annotated[list[str] | None, typer.Argument(help="Default: all of them.")] = None) -> None:
    """Count, and replace the bills of these suites in the file."""
    with closing(open_pipeline(read_settings(), HOME)) as rag:
        for name in suites or QUESTIONS:
            suite = _suite(name)
            session = Session(suite, Place(data=data_folder(), home=HOME), rag, MetricModels(), Console(stderr=True))
            _write(name, suite, asyncio.run(session.bill()))


def _suite(name: str) -> Suite:
    """The suite cut to a few questions and to their documents."""
    systems = SYSTEMS[:-1] if name == "loong" else SYSTEMS
    changes = {"systems": systems, "limit": QUESTIONS[name], "pool": "chosen", "parser": "rules"}
    return load_suite(name).model_copy(update=changes)


def _write(name: str, suite: Suite, bills: list[Bill]) -> None:
    written = json.loads(RESULTS.read_text("utf-8"))
    official = (
        [bills[0].for_questions(suite.official).model_dump(include={"system", *COUNTS})] if suite.official else []
    )
    counted: dict[str, Any] = {b.system: b.model_dump(include=COUNTS) for b in bills}
    bill = {"suite": suite.label, "counted": counted, "official": official, "assumed tokens of a reply": ASSUMED}
    found = {"commit": package_version(), "bills": {**written["bills"], name: bill}}
    RESULTS.write_text(to_json(found) + "\n", "utf-8")


if __name__ == "__main__":
    typer.run(main)
