"""disco-rag as it comes: a tree for every chunk and for the sentences of every document."""

from bench.peers.common import Task, main
from bench.peers.plain import Ours


def default(task: Task) -> Ours:
    """No option is set."""
    return Ours(task)


if __name__ == "__main__":
    main(default)
