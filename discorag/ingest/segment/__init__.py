"""discorag/ingest/segment."""
