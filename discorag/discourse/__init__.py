"""Discourse structure: RST parsers, relations between chunks, and the formats in which trees are exchanged."""
