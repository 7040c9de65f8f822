"""The trained parser: encoder, network, decoding, labels."""
