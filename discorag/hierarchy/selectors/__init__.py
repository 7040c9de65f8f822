"""Selectors: a query and the nodes of documents to evidence."""
