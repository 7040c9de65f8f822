"""The pipeline for clients of the Model Context Protocol: the same tools over stdio and over HTTP."""
