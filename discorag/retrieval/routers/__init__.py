"""RDR2: a router walks the headings of a document."""
