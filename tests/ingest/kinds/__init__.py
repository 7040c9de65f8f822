"""Kinds of things that files hold, one module each, in every format that has them."""
