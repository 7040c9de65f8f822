"""The steps of a question."""
