"""A process that runs the whole pipeline, so that it can be killed, and one that says what it has stored.

``python -m bench.trust.pipeline run STORE FOLDER PARSER`` opens the store, says so, ingests the folder and asks
`QUESTIONS`. ``... look STORE`` says what the store holds and answers, as a `Look`.
"""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from bench.product import environment, run_python
from bench.trust.content import Content, Reading, content
from discorag.schema.errors import InvariantError

if TYPE_CHECKING:
    from discorag import DiscoRAG

QUESTIONS = (
    "What does the waggle dance say?",
    "How does a colony survive the winter?",
    "What is a neap tide?",
    "Does vitamin D prevent flu?",
    "Why do adolescents sleep late?",
)
FIRST_BUILT = "bisection"
"""A retriever whose trees the first question builds and stores: asks that write can be broken."""
_OPEN = "open"


class Look(BaseModel):
    """What a store holds, what it answers, and how to open it."""

    model_config = ConfigDict(frozen=True)

    content: Content
    answers: list[str]
    reading: Reading

    def everything(self) -> Content:
        """The content with the answers."""
        return self.content | {f"answer {i}": text for i, text in enumerate(self.answers)}


def look(store: Path, settings: Mapping[str, str] | None = None) -> Look:
    """Read a store that nobody else has open. Raises `InvariantError` if it cannot be read."""
    done = run_python(store, "-m", "bench.trust.pipeline", "look", str(store), settings=settings)
    if done.code:
        raise InvariantError(f"{store} cannot be read: {done.err[-2000:]}")
    return Look.model_validate_json(done.out.splitlines()[-1])


def start(store: Path, folder: Path, parser: str, settings: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """The process that ingests and asks, in a process group of its own; ``settings`` as for `environment`."""
    return subprocess.Popen(
        [sys.executable, "-m", "bench.trust.pipeline", "run", str(store), str(folder), parser],
        env=environment(store, settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def wait_until_open(process: subprocess.Popen[str]) -> None:
    """Wait until the process has opened the store, or ended."""
    assert process.stdout
    process.stdout.readline()


def _run(rag: DiscoRAG, folder: Path, parser: str) -> None:
    print(_OPEN, flush=True)  # noqa: T201
    failed = [o.note for o in rag.ingest(folder, parser=parser).outcomes if o.status == "failed"]
    if failed:
        raise InvariantError(f"Not every document was stored: {failed}.")
    for question in QUESTIONS:
        rag.ask(question, retriever=FIRST_BUILT)


def _look(rag: DiscoRAG) -> Look:
    encoder, store = rag.backends.encoder, rag.backends.store
    vectors = [rag.run(functools.partial(encoder.encode_query, q)).tolist() for q in QUESTIONS]
    reading = Reading(
        encoder_version=encoder.version, dimension=encoder.dimension, vectors=vectors, texts=list(QUESTIONS)
    )
    found = content(store, rag.scope(), reading.queries())
    return Look(content=found, answers=[rag.ask(q).answer.text for q in QUESTIONS], reading=reading)


def _main(job: str, *arguments: str) -> None:
    from discorag import DiscoRAG

    with DiscoRAG() as rag:
        if job == "run":
            _run(rag, Path(arguments[0]), arguments[1])
        else:
            print(_look(rag).model_dump_json())  # noqa: T201


if __name__ == "__main__":
    _main(sys.argv[1], *sys.argv[3:])
