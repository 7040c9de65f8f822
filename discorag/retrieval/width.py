"""How many of the passages that a search found are read.

Measured by ``python -m bench.evidence`` (`docs/retrieval.md`).
"""

CANDIDATES = 40
"""Chunks that are searched for and reranked."""
KEPT = 20
"""Chunks of these that a language model reads: a fixed number, because rules that cut by logits do not find more
evidence in as many chunks."""
EARLIER = 6
"""Chunks that earlier answers of a conversation rest on, which are reranked with the candidates of a later question."""
