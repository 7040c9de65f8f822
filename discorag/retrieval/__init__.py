"""Retrieval trees: builders make them, choosers and routers find evidence in them."""
