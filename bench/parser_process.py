"""Time the parser in a process of its own, which prints what it took as JSON; run by `bench.parser`."""

import json
import os
import sys
import time
from itertools import cycle
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict

from bench.process import peak_mb
from discorag.discourse.parse.trained.network import Network
from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.discourse.parse.trained.pieces import layout_of

CHUNK = 165
"""Words of a chunk of about 256 word pieces."""
SIZES = (256, 1000, 5000, 20_000, 100_000)
PASSED = 5000
"""Words that the encoder's pass is compared on."""
_RUNS = 5


class Timing(BaseModel):
    """What parsing took: seconds by words, the chunk's the median of five.

    ``over_encoder_pass`` is parsing over the encoder's pass alone, of the same 5,000 words, the median of five pairs.
    """

    model_config = ConfigDict(frozen=True)

    load_s: float
    chunk_ms: float
    seconds: dict[int, float]
    over_encoder_pass: float
    peak_mb: float


def words(n: int) -> str:
    """A text of ``n`` words: the examples' documents, over and over."""
    texts = [p.read_text(encoding="utf-8") for p in sorted(Path("examples").rglob("*.md")) if "zh" not in p.parts]
    paragraphs = cycle(paragraph.split() for text in texts for paragraph in text.split("\n\n"))
    found, left = list[str](), n
    while left > 0:
        part = next(paragraphs)[:left]
        found.append(" ".join(part))
        left -= len(part)
    return "\n\n".join(found)


def measure() -> Timing:
    """Load, warm up, time."""
    parser, start = TrainedParser(), time.perf_counter()
    parser.parse_text("Loaded.")
    load_s = time.perf_counter() - start
    chunk = [_seconds(parser, words(CHUNK)) for _ in range(_RUNS)]
    seconds, peak = {n: _seconds(parser, words(n)) for n in SIZES}, peak_mb()
    return Timing(
        load_s=load_s,
        chunk_ms=1000 * median(chunk),
        seconds=seconds,
        over_encoder_pass=median(_over_encoder_pass(parser)),
        peak_mb=peak,
    )


def _over_encoder_pass(parser: TrainedParser) -> list[float]:
    """Processor time over that of the encoder alone, run by run; other processes disturb it less than wall time."""
    network, text = Network(), words(PASSED)
    pieces, ratios = network.pieces(layout_of(text)), list[float]()
    for _ in range(_RUNS):
        start = time.process_time()
        network.tokens(pieces)
        passed = time.process_time()
        parser.parse_text(text)
        ratios.append((time.process_time() - passed) / (passed - start))
    return ratios


def _seconds(parser: TrainedParser, text: str) -> float:
    start = time.perf_counter()
    parser.parse_text(text)
    return time.perf_counter() - start


if __name__ == "__main__":
    os.sched_setaffinity(0, range(int(sys.argv[1])))
    print(json.dumps(measure().model_dump()))  # noqa: T201
