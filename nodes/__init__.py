"""Graph nodes: each reads state, calls one core function, returns an update."""
