"""Builders: a document to a retrieval tree."""
