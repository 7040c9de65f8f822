"""What a prefix cache saves, by vLLM's own count: the calls of one question in three layouts, on a real server.

The three turns of our conversation (graph, plan, answer) stand beside standard RAG and ``preset=paper``, over the same
chunks of ``examples/``. The model has 135 million parameters, so it is not asked what it thinks: it reads every prompt,
and what a capable model would have written (`bench.replies`) is put into the cache behind it, as writing it would have
done, by a request that ends with those words and counts for nothing else. Every question and layout begins with an
empty cache, by a salt.

Usage: ``python -m bench.prefix [--questions N] [--out FILE]``, in the environments of ``make bench-prefix``.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import tomllib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any, TypeVar, cast

import httpx
import typer
from openai import AsyncOpenAI
from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from bench.cost import OFF, PAPER, check
from bench.replies import respond
from discorag import DiscoRAG
from discorag.models.protocol import LanguageModel, Reply, Request
from discorag.settings import LlmSettings, Settings, StoreSettings
from discorag.types.errors import InvariantError
from discorag.types.usage import Usage
from nodes.resources import Resources
from tests.vllm.server import CHAT, CONTEXT_TOKENS, SMOLLM2, VllmServer

OUT = Path("bench/results/prefix.json")
EXAMPLES = Path("examples")
CORPORA = ("bees", "library-handbook", "school-start", "tides", "vitamin-d")
BLOCK = 32
"""Tokens a block of the cache: the smallest that vLLM has on a CPU; on a GPU its default is 16."""
KS: Mapping[int, tuple[str, ...]] = {10: ("standard", "ours"), 2: ("standard", "ours", "paper")}
"""Layouts by number of chunks: with three, not every prompt of ``preset=paper`` goes into SmolLM2's 8192 tokens."""
LAYOUTS: Mapping[str, dict[str, Any]] = {"standard": OFF, "ours": {}, "paper": PAPER}

T = TypeVar("T")


class Row(BaseModel):
    """One layout at one k: medians over the questions, in tokens as the server counts them.

    ``recomputed`` are prompt tokens that were not cached; ``ratio`` is the median of each question's to standard RAG's.
    """

    model_config = ConfigDict(frozen=True)

    layout: str
    k: int
    questions: int
    calls: float
    prompt: float
    cached: float
    recomputed: float
    output: float
    ratio: float


class ReadingModel(LanguageModel):
    """The server's model, which reads prompts; what it says is from `bench.replies`.

    Args:
        server: Where.
        salt: Its requests share a cache only with those of the same salt.

    Attributes:
        hits: Cached tokens of all requests so far, those that only fill the cache included.
    """

    def __init__(self, server: VllmServer, salt: str) -> None:
        self._client = AsyncOpenAI(base_url=server.base_url, api_key="none", max_retries=0, timeout=600)
        self._server = server
        self._salt = salt
        self.hits = 0

    @property
    def name(self) -> str:
        """The model's name there."""
        return self._server.name

    async def complete(self, request: Request[T]) -> Reply[T]:
        """The scripted reply; ``usage`` is the server's, ``tokens_out`` with the token that ends the turn."""
        turns = [m.model_dump() for m in request.messages]
        said = respond({"messages": turns}).text or ""
        prompt, cached = await self._read(turns)
        whole, _ = await self._read(
            [*turns, {"role": "assistant", "content": said}], continue_final_message=True, add_generation_prompt=False
        )
        usage = Usage(calls=1, tokens_in=prompt, tokens_out=whole - prompt + 1, tokens_cached=cached)
        return Reply(text=said, value=request.parse(said), usage=usage)

    async def _read(self, turns: list[dict[str, Any]], **template: bool) -> tuple[int, int]:
        """Prompt tokens, and how many of them were cached."""
        body = {"cache_salt": self._salt, **template}
        answer = await self._client.chat.completions.create(
            model=self.name, messages=cast("Any", turns), max_tokens=1, temperature=0.0, extra_body=body
        )
        if answer.usage is None or answer.usage.prompt_tokens_details is None:
            raise InvariantError("The server does not tell cached tokens.", hint="--enable-prompt-tokens-details")
        cached = answer.usage.prompt_tokens_details.cached_tokens or 0
        self.hits += cached
        return answer.usage.prompt_tokens, cached

    async def stream(self, request: Request[str]) -> AsyncIterator[str | Reply[str]]:
        """The same in one piece."""
        reply = await self.complete(request)
        yield reply.text
        yield reply

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()


async def measure(resources: Resources, server: VllmServer, questions: Sequence[str]) -> list[Row]:
    """A row for each layout of `KS`."""
    rows: list[Row] = []
    for k, layouts in KS.items():
        base: list[Usage] = []
        for layout in layouts:
            used = await _asked(resources, server, questions, layout, k)
            base = base or used  # standard RAG comes first
            rows.append(_row(layout, k, used, base))
    return rows


async def _asked(
    resources: Resources, server: VllmServer, questions: Sequence[str], layout: str, k: int
) -> list[Usage]:
    """What each question cost, all asked at once; the server's counter of cache hits must agree."""
    before = server.metric("vllm:prefix_cache_hits_total")
    models = [ReadingModel(server, salt=f"{layout}-{k}-{question}") for question in questions]
    asked = zip(questions, models, strict=True)
    used = await asyncio.gather(*(_ask(resources, question, model, layout, k) for question, model in asked))
    hits, told = server.metric("vllm:prefix_cache_hits_total") - before, sum(model.hits for model in models)
    if hits != told:
        raise InvariantError(f"vLLM counts {hits} tokens from the cache in /metrics and {told} in its replies.")
    return used


async def _ask(resources: Resources, question: str, model: ReadingModel, layout: str, k: int) -> Usage:
    parts = Resources(resources.settings, resources.store, resources.bare_encoder, model)
    switches: dict[str, Any] = {**LAYOUTS[layout], "retriever": "dense", "top_k": k}
    result = await DiscoRAG(resources=parts).aask(question, **switches)
    await model.aclose()
    check(result)
    return result.ledger.usage


def _row(layout: str, k: int, used: Sequence[Usage], base: Sequence[Usage]) -> Row:
    return Row(
        layout=layout,
        k=k,
        questions=len(used),
        calls=median(u.calls for u in used),
        prompt=median(u.tokens_in for u in used),
        cached=median(u.tokens_cached for u in used),
        recomputed=median(u.recomputed for u in used),
        output=median(u.tokens_out for u in used),
        ratio=median(u.recomputed / b.recomputed for u, b in zip(used, base, strict=True)),
    )


def questions(n: int) -> list[str]:
    """The first ``n`` questions of the English example corpora."""
    parsed = tomllib.loads((EXAMPLES / "questions.toml").read_text(encoding="utf-8"))
    return [q["text"] for q in (*parsed["question"], *parsed["extra"]) if q["corpus"] in CORPORA][:n]


async def run(server: VllmServer, asked: Sequence[str]) -> list[Row]:
    """Ingest the examples into memory, with the parser's own trees, and measure."""
    settings = Settings(store=StoreSettings(kind="memory"), llm=LlmSettings(context_tokens=10**9, layout="inline"))
    with Resources.open(settings) as resources:
        rag = DiscoRAG(resources=resources)
        for corpus in CORPORA:
            await rag.aingest(EXAMPLES / corpus, retriever="dense")
        return await measure(resources, server, asked)


def result(rows: Iterable[Row], vllm: str) -> dict[str, Any]:
    """The result file."""
    model = {"name": "SmolLM2-135M-Instruct", "dtype": "bfloat16", "context": CONTEXT_TOKENS}
    data = {"corpora": CORPORA, "chunk_tokens": Settings().reading.chunk_tokens}
    how = {"vllm": vllm, "device": "cpu", "block": BLOCK, "model": model, **data, "runs": 1}
    return {"rows": [row.model_dump() for row in rows], "how": how}


def show(rows: Iterable[Row], console: Console) -> None:
    """A table for people."""
    table = Table(title="Prompt tokens a question, as vLLM counts them (medians)")
    for column in Row.model_fields:
        table.add_column(column, justify="left" if column == "layout" else "right")
    for row in rows:
        table.add_row(row.layout, *(f"{v:,.0f}" for v in (*row.model_dump().values(),)[1:-1]), f"{row.ratio:.2f}")
    console.print(table)


def main(
    n: Annotated[int, typer.Option("--questions", help="How many.")] = 5,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, show and write."""
    console = Console()
    log = Path(tempfile.gettempdir()) / "disco-rag-prefix-vllm.log"
    with VllmServer(SMOLLM2, "smollm2", *CHAT, f"--block-size={BLOCK}", log=log) as server:
        vllm = httpx.get(f"{server.address}/version").json()["version"]
        rows = asyncio.run(run(server, questions(n)))
    show(rows, console)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result(rows, vllm), indent=2) + "\n", encoding="utf-8")
    console.print(f"Written to {out}.")


if __name__ == "__main__":
    typer.run(main)
