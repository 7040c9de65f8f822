"""Our scores beside those of isanlp_rst's own evaluation code: ``python -m training.parser.others --metrics FILE``.

``pip download --no-deps isanlp_rst`` brings the wheel; in it FILE is
``isanlp_rst/universal_parser/src/parser/metrics.py``.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from discorag.discourse.parse.gum_labels import class_of
from discorag.discourse.parse.trained.decode import decode
from discorag.discourse.parse.trained.network import Network, sentences_of
from discorag.discourse.parse.trained.parser import edus
from discorag.discourse.parse.trained.pieces import layout_of
from discorag.schema.discourse import Nuclearity
from discorag.schema.values import Span
from training.parser.gum import GoldSplit, GumDocument, load_gum
from training.parser.parseval import Counter, Parseval
from training.parser.score import GROUPS, GROUPS_OF, gold_nodes

_ROLES = {"N": "Nucleus", "S": "Satellite"}
_SEG = "seg"


def brackets(splits: Iterable[GoldSplit]) -> str:
    """A tree as isanlp_rst writes it; units count from 1, a nucleus beside a satellite has the label ``span``."""
    return " ".join(map(_bracket, splits)) or "NONE"


def _bracket(split: GoldSplit) -> str:
    left, right = (
        f"{_ROLES[role]}={'span' if role == 'N' and split.nuclearity is not Nuclearity.NN else class_of(split.label)}"
        for role in split.nuclearity.value
    )
    return f"({split.start + 1}:{left}:{split.mid},{split.mid + 1}:{right}:{split.end})"


def theirs(metrics: Mapping[str, Any], documents: Sequence[GumDocument], found: Sequence[_Tree]) -> dict[str, float]:
    """F1 in per cent by the functions of their ``metrics``: original Parseval; Seg is that of the EDUs' ends."""
    counts = metrics["get_batch_metrics"](
        [[brackets(splits)] for _, splits in found],
        [brackets(d.splits) for d in documents],
        [[s.end for s in spans] for spans, _ in found],
        [[s.end for s in d.edus] for d in documents],
        True,
    )
    span, relation, nuclearity, full, seg = metrics["get_micro_metrics"](*counts[:6], *counts[12])
    named = {"span": span[2], "nuclearity": nuclearity[2], "relation": relation[2], "full": full, _SEG: seg[2]}
    return {name: round(100 * value, 2) for name, value in named.items()}


_Tree = tuple[Sequence[Span], Sequence[GoldSplit]]


def ours(documents: Sequence[GumDocument], found: Sequence[_Tree]) -> Parseval:
    """By `training.parser.parseval`."""
    counter = Counter()
    for document, (spans, splits) in zip(documents, found, strict=True):
        counter.add(gold_nodes(spans, splits), gold_nodes(document.edus, document.splits))
        counter.add_starts([s.start for s in spans[1:]], [e.start for e in document.edus[1:]])
    return counter.result()


def _tree(network: Network, document: GumDocument, *, gold: bool) -> _Tree:
    """The parser's tree over the gold EDUs or its own, with coarse classes."""
    pieces = network.pieces(layout_of(document.text))
    tokens = network.tokens(pieces)
    spans = list(document.edus) if gold else edus(network, document.text, pieces, tokens)
    units = sentences_of(pieces, spans, "edu")
    splits: list[GoldSplit] = []
    for d in decode(network, network.read(tokens, units), units.levels):
        nuclearity, label = GROUPS[int((d.label_ps @ GROUPS_OF).argmax())]
        splits.append(GoldSplit(d.start, d.mid, d.end, nuclearity, label))
    return spans, splits


def main(
    metrics: Annotated[Path, typer.Option(help="Their metrics.py.")],
    gum: Annotated[Path, typer.Option(help="The corpus.")] = Path("../shared/data/gum"),
    out: Annotated[Path, typer.Option(help="Result file.")] = Path("bench/results/parser-others.json"),
) -> None:
    """Score the packaged parser on GUM's development part, over gold EDUs and end to end, by both."""
    documents, functions = load_gum(gum, "dev"), runpy.run_path(str(metrics))
    network, result = Network(), dict[str, Any]()
    for case in ("gold", "end_to_end"):
        found = [_tree(network, d, gold=case == "gold") for d in documents]
        scores = {k: round(v, 2) for k, v in ours(documents, found).model_dump().items()}
        result[f"fast {case}"] = {"ours": scores, "isanlp_rst": theirs(functions, documents, found)}
    out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    typer.echo(out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
