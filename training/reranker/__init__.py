"""The reranker that reads a sentence in its passage: questions, groups, training and export, not in the wheel."""
