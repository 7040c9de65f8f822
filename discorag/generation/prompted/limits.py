"""Output limits of the turns, in tokens: they follow the work, which grows with the passages."""

from __future__ import annotations

LINK_TOKENS = 12  # "10":"BACKGROUND_FOR",
ROW_TOKENS = 8  # "c10":{},
MOST_LINKS = 9
"""Links of a passage for which there is room: all that ten passages can have (Disco-RAG retrieves ten)."""
PLAN_STEP = 48
"""A step of a plan for each passage; with what stands around it a plan of ours has about 180 tokens at ten passages."""
ANSWER_PART = 72
"""A sentence or two on each passage."""
MOST_ANSWER = 1024
SPARE = 128
"""For white space and what a model writes before it starts."""


def graph_tokens(k: int) -> int:
    """A graph over ``k`` passages: every link of every passage, up to ten passages."""
    return SPARE + k * (ROW_TOKENS + LINK_TOKENS * min(max(k - 1, 0), MOST_LINKS))


def plan_tokens(k: int) -> int:
    """A plan over ``k`` passages."""
    return SPARE + min(PLAN_STEP * k, MOST_ANSWER)


def answer_tokens(k: int) -> int:
    """An answer from ``k`` passages."""
    return min(2 * SPARE + ANSWER_PART * k, MOST_ANSWER)
