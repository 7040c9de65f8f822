"""A server process, what it is asked to read, and what became of it: for `bench.trust`."""
