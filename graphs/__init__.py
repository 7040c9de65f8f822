"""The graphs: answer, chat, ingest, presets and baselines."""
