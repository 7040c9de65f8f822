"""Parts of the HTTP API, one concern a file; `graphs.api` puts them together."""
