"""Parts of the HTTP API, one concern a file; `interfaces.http.app` puts them together."""
