"""disco-rag as it comes: trees, hybrid retrieval, sentences' vectors."""

from __future__ import annotations

from bench.peers.common import Task, main
from bench.peers.plain import Ours


def default(task: Task) -> Ours:
    """No switch is set."""
    return Ours(task, {})


if __name__ == "__main__":
    main(default)
