"""Metrics by their official definitions."""
