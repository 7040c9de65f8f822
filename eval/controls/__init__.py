"""Controls of what discourse structure is worth: damaged structures, and structures that know nothing of the text.

Those over our own types are pure functions of a structure, a random generator and a rate, the share of the structure
that is changed. Those exported here take plain Python values, see `docs/worth.md`.
"""

from eval.controls.plain import Edge as Edge
from eval.controls.plain import Tree as Tree
from eval.controls.plain import exchange as exchange
from eval.controls.plain import permute_edges as permute_edges
from eval.controls.plain import random_tree as random_tree
from eval.controls.plain import right_branching_tree as right_branching_tree
from eval.controls.plain import shuffle_labels as shuffle_labels
from eval.controls.plans import fill as fill
from eval.controls.plans import remove_steps as remove_steps
from eval.controls.plans import shuffle_steps as shuffle_steps
