"""What an ingest has to do: which documents are new, changed or gone, and what they would cost."""
