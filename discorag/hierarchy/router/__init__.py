"""Routing: from passages that were retrieved of a document through its headings to those that answer (RDR²)."""
