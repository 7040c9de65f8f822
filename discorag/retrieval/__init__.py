"""Retrieval: the registry of retrievers, search over chunks and trees, and the builders, selectors and routers."""
