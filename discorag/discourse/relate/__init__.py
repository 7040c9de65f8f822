"""Which relations hold between chunks, without a language model."""
