"""The trained parser: word pieces, network, decoding, labels."""
