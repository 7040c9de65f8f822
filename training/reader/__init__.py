"""What a small reader makes of discourse structure: the reranker, fine-tuned to select evidence with and without it."""
