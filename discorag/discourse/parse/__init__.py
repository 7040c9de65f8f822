"""Rhetorical Structure Theory inside a chunk: relations, trees, parsers, renderings."""
