"""Encoder and language model, behind protocols."""
