"""Converters: each makes Markdown of one file format, with the library that is kept for it."""
