"""Which tree over a document, and which way through it, finds evidence best: data, measures, vectors, table."""
