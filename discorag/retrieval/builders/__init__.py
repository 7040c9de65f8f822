"""From a document to a retrieval tree, one way a module."""
