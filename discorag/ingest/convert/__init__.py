"""Converters: each turns one file format into Markdown, with the library for that format."""
