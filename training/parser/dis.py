"""Trees in the ``.dis`` format of GUM and RST-DT, binarised.

Nuclearity and relation are given on the children: a satellite names its relation, and nuclei of a multinuclear relation
all name it.
"""

import re

from discorag.discourse.labelled import LabelledSplit, Part, join
from discorag.schema.errors import InvariantError

_TOKEN = re.compile(
    r"""  \(\s*(?P<role>Root|Nucleus|Satellite)\b
        | \(\s*rel2par\s+(?P<name>[^\s()]+)\s*\)
        | \(\s*text\s+_!(?P<text>.*?)_!\s*\)
        | \(\s*(?:span|leaf)\b[\s\d]*\)
        | (?P<close>\))""",
    re.DOTALL | re.VERBOSE,
)


def read_dis(dis: str) -> tuple[list[str], list[LabelledSplit]]:
    """The EDUs' texts, and the splits with the file's labels, in pre-order; span and leaf numbers are ignored.

    Raises:
        InvariantError: It is not a tree.
    """
    leaves: list[str] = []
    splits: list[LabelledSplit] = []
    tokens = _TOKEN.finditer(dis)

    def read(role: str) -> Part:
        """The constituent whose bracket was opened last."""
        start, name, parts = len(leaves), "", list[Part]()
        for token in tokens:
            if token["role"]:
                parts.append(read(token["role"]))
            elif token["name"]:
                name = token["name"]
            elif token["text"] is not None:
                leaves.append(token["text"])
            elif token["close"]:
                break
        splits.extend(join(parts))
        return Part(start, len(leaves), name, role != "Satellite")

    read("")
    splits.sort(key=lambda split: (split.start, -split.end))
    if not leaves or len(splits) != len(leaves) - 1 or next(tokens, None):
        raise InvariantError("This is not a .dis tree.", hint="Check its brackets, and that texts are in _!...!_.")
    return leaves, splits
