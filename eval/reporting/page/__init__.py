"""The report page: what it shows, its plots, its template."""
