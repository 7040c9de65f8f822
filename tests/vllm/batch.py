"""Requests to the offline model, all at once; run in vLLM's environment, prints what came of them as JSON.

Usage: ``python -m tests.vllm.batch FOLDER``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from discorag.config import LlmSettings
from discorag.models.offline import OfflineModel
from discorag.models.protocol import Message, Reply, Request
from discorag.schema.errors import ModelError

CONTEXT_TOKENS = 2048
ONLY_FIG = {"type": "object", "properties": {"name": {"enum": ["fig"]}}, "required": ["name"]}


def request(question: str, **changes: Any) -> Request[str]:
    """Two turns."""
    turns = (Message(role="system", content="Be brief."), Message(role="user", content=question))
    return Request(stage="batch", messages=turns, parse=str, max_tokens=60, **changes)


async def outcome(model: OfflineModel, asked: Request[str]) -> dict[str, Any]:
    """Text and usage, or the error's name."""
    try:
        reply = await model.complete(asked)
    except ModelError as error:
        return {"error": error.kind}
    return {"text": reply.text, "usage": reply.usage.model_dump()}


async def streamed(model: OfflineModel, asked: Request[str]) -> list[str]:
    """The pieces, then the reply's text."""
    return [part.text if isinstance(part, Reply) else part async for part in model.stream(asked)]


async def ask(model: OfflineModel) -> dict[str, Any]:
    """Many, alone and together, with bad ones between them."""
    fig = request("Which fruit?", schema=ONLY_FIG)
    long = "Bees dance, and the others fly where the dance points. " * 30
    start = time.perf_counter()
    alone = await outcome(model, fig)
    one = time.perf_counter()
    together = await asyncio.gather(*(outcome(model, fig) for _ in range(8)))
    eight = time.perf_counter()
    mixed = [fig, request("a b " * 1500), request("?", schema={"type": "nothing"}), fig]
    return {
        "alone": alone,
        "together": together,
        "seconds": [one - start, eight - one],
        "mixed": await asyncio.gather(*(outcome(model, asked) for asked in mixed)),
        "beams": await outcome(model, request("Which fruit?", schema=ONLY_FIG, beam_width=2)),
        "streamed": await streamed(model, fig),
        "again": [await outcome(model, request(long + end, schema=ONLY_FIG)) for end in ("Who?", "Why?")],
    }


if __name__ == "__main__":
    settings = LlmSettings(model=sys.argv[1], context_tokens=CONTEXT_TOKENS, cache=None)
    offline = OfflineModel(settings, dtype="bfloat16", enforce_eager=True, max_num_seqs=8)
    made = asyncio.run(ask(offline))
    offline.stop()
    print(json.dumps(made))  # noqa: T201
