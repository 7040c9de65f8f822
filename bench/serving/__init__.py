"""Parts of `bench.serve`: a server process, load, faults, and what became of every request."""
