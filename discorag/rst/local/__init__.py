"""The RST parser that needs no language model."""
