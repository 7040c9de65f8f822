"""What is stored: the database, which is the truth, and the index derived from it (Qdrant Edge or a Qdrant server)."""
