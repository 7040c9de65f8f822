"""The graphs: answer, ingest and the baselines."""
