"""The lint as it is used: which faults an answer has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, islice, zip_longest
from pathlib import Path

from bench.answers.lint.fit import Line, found
from bench.answers.lint.said import FAULTS, Answered, Fault

ANSWERS = 300
LINES = Path(__file__).with_name("lines.json")


@cache
def lines() -> dict[Fault, Line]:
    """The fitted model of each fault."""
    stored = json.loads(LINES.read_text("utf-8"))
    return {fault: Line.model_validate(stored[fault]) for fault in FAULTS}


def write_lines(fitted: Mapping[Fault, Line]) -> None:
    """Keep them for `lines`."""
    made = ",\n".join(f' "{fault}": {line.model_dump_json()}' for fault, line in fitted.items())
    LINES.write_text("{\n" + made + "\n}\n", "utf-8")
    lines.cache_clear()


def faults(answer: Answered) -> dict[Fault, list[int]]:
    """The places of the sentences with each fault; faults without any are left out."""
    every: dict[Fault, list[int]] = {fault: found(answer, line, fault) for fault, line in lines().items()}
    return {fault: places for fault, places in every.items() if places}


def shares(answers: Mapping[str, Sequence[Answered]]) -> dict[str, float | int]:
    """Percentages of `ANSWERS` answers with each fault and with any, runs taken in turn; refusals do not count.

    Args:
        answers: Those of each run, in their order.
    """
    given = ([one for one in found if one.sentences] for found in answers.values())
    turns: Iterable[Answered | None] = chain.from_iterable(zip_longest(*given))
    checked = [set(faults(one)) for one in islice((one for one in turns if one), ANSWERS)]
    counts = {fault: sum(fault in one for one in checked) for fault in FAULTS} | {"any": sum(map(bool, checked))}
    return {"answers": len(checked)} | {name: round(100 * n / len(checked), 1) for name, n in counts.items()}
