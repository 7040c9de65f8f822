"""Controls of what discourse structure is worth: damaged structures, and structures that know nothing of the text.

Each is a pure function of a structure, a random generator and a rate, the share of the structure that is changed.
"""
