"""What a Qdrant server that many processes write to takes beside its points."""
