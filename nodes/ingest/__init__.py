"""The steps of a document."""
