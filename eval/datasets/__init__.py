"""Loaders of the benchmarks' official files; data stays where it is, nothing is copied."""
