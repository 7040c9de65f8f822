"""Stores behind one protocol: Qdrant Edge on disk, Qdrant in memory, a Qdrant server."""
