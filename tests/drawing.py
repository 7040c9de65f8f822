"""Trees in the notation of Disco-RAG's fig. 10, as a model would write them."""

from collections.abc import Iterator

from discorag.discourse.parse.inline import escape
from discorag.schema.discourse import Nuclearity, RstTree, Split
from discorag.schema.document import Chunk


def drawn(chunk: Chunk) -> str:
    """A reply that draws the chunk's tree, its text escaped as in the prompt; every EDU on one line."""
    tree = chunk.tree
    assert tree is not None
    texts = [" ".join(escape(chunk.slice(edu)).split()) for edu in tree.edus]
    edus = [f"[{i}] {text}" for i, text in enumerate(texts, start=1)]
    pairs = [_pair(tree, split) for split in tree.splits]
    root = f"ROOT[{_name(0, len(texts))}]"
    return "\n".join(["EDUs:", *edus, "RST ANALYSIS:", *pairs, "TREE STRUCTURE:", root, *_nodes(tree, texts)])


def _pair(tree: RstTree, split: Split) -> str:
    left, right = tree.head(split.start, split.mid) + 1, tree.head(split.mid, split.end) + 1
    first, second = (left, right) if split.nuclearity is Nuclearity.SN else (right, left)
    return f"RELATION(EDU{first}, EDU{second}): {split.relation}"


def _nodes(tree: RstTree, texts: list[str]) -> Iterator[str]:
    stack = [(0, len(texts), 0, "")]
    while stack:
        start, end, depth, line = stack.pop()
        if line:
            yield line
        if end - start < 2:
            continue
        split = tree.split_at(start, end)
        sides = [(split.start, split.mid, split.nuclearity[0], ""), (split.mid, split.end, split.nuclearity[1], "N")]
        for low, high, role, named in reversed(sides):
            label = f": {split.relation}" if role == "S" or (named and split.nuclearity is Nuclearity.NN) else ""
            kind = "SATELLITE" if role == "S" else "NUCLEUS"
            text = f" {texts[low]}" if high - low == 1 else ""
            drawing = "|   " * depth + f"|--- {kind}[{_name(low, high)}]{text} ({role}){label}"
            stack.append((low, high, depth + 1, drawing))


def _name(start: int, end: int) -> str:
    return str(end) if end - start == 1 else f"{start + 1}-{end}"
