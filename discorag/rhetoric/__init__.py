"""Discourse between chunks: graph, plan, answer, verification."""
