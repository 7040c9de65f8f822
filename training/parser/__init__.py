"""The trained RST parser on GUM."""
