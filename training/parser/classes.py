"""The 15 coarse classes of GUM's labels, over which parsers are compared."""

from discorag.discourse.parse.gum_labels import JOINT_LABELS, SAME_UNIT


def class_of(label: str) -> str:
    """The coarse class of one of GUM's labels."""
    return SAME_UNIT if label == SAME_UNIT else label.partition("-")[0]


GROUPS = sorted({(nuclearity, class_of(label)) for nuclearity, label in JOINT_LABELS})
"""Nuclearity and coarse class of a node."""
GROUP_OF = [GROUPS.index((nuclearity, class_of(label))) for nuclearity, label in JOINT_LABELS]
"""The index of the group of each of the network's labels."""
