"""Ingest and retrieval beside LlamaIndex and Haystack: the same weights, documents and size of chunks."""
