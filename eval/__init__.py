"""Benchmarks and evaluation."""
