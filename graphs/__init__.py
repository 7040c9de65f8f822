"""Wiring: the answer and ingest graphs and the ways in."""
