"""The verifier compared with labels given by people."""
