"""The ordered hierarchy of a document and its chunks."""
