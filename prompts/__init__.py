"""Prompt files and their checking loader."""
