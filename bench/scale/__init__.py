"""More than one process over PostgreSQL: what is lost, doubled, shown to others, and what it costs."""
