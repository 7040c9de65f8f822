"""Wiring: the answer and ingest graphs and the ways in."""

from graphs.facade import AskResult, DiscoRAG, IngestResult

__all__ = ["AskResult", "DiscoRAG", "IngestResult"]
