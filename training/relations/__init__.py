"""The relations between chunks, learned from GUM."""
