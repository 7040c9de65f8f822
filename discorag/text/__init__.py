"""Text: sentences, terms, BM25, citations, escaping."""
