"""Time one tier of the parser in a process of its own; says on stdout what it took, as JSON. Run by `bench.parser`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict

from bench.process import peak_mb
from discorag.rst.trained.parser import TrainedParser
from discorag.text.sentences import sentence_spans
from discorag.types.chunk import Chunk
from discorag.types.span import Span

CHUNK = 165
"""Words of a chunk of about 256 word pieces."""
SIZES = (256, 1000, 5000, 20_000, 100_000)
_RUNS = 5


class Timing(BaseModel):
    """What parsing took: seconds by words, the chunk's the median of five."""

    model_config = ConfigDict(frozen=True)

    load_s: float
    chunk_ms: float
    seconds: dict[int, float]
    peak_mb: float


def words(n: int) -> str:
    """A text of ``n`` words: the examples' documents, over and over."""
    texts = [p.read_text(encoding="utf-8") for p in sorted(Path("examples").rglob("*.md")) if "zh" not in p.parts]
    found: list[str] = []
    left = n
    while left > 0:
        for paragraph in (p for t in texts for p in t.split("\n\n")):
            part = paragraph.split()[:left]
            found.append(" ".join(part))
            left -= len(part)
            if left <= 0:
                break
    return "\n\n".join(found)


def chunk_of(n: int) -> Chunk:
    """A chunk of ``n`` words."""
    text = words(n)
    return Chunk(
        id="c", doc_id="d", order=0, span=Span(start=0, end=len(text)), text=text, sentences=sentence_spans(text)
    )


def measure(tier: str) -> Timing:
    """Load, warm up, time."""
    parser, start = TrainedParser(tier), time.perf_counter()
    parser.parse_text("Loaded.")
    load_s = time.perf_counter() - start
    chunk = [_seconds(parser, words(CHUNK)) for _ in range(_RUNS)]
    seconds = {n: _seconds(parser, words(n)) for n in SIZES}
    return Timing(load_s=load_s, chunk_ms=1000 * median(chunk), seconds=seconds, peak_mb=peak_mb())


def _seconds(parser: TrainedParser, text: str) -> float:
    start = time.perf_counter()
    parser.parse_text(text)
    return time.perf_counter() - start


if __name__ == "__main__":
    import torch

    torch.set_num_threads(int(sys.argv[2]))
    print(json.dumps(measure(sys.argv[1]).model_dump()))  # noqa: T201
