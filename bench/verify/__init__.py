"""The verifier beside what people say."""
