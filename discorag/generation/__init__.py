"""The answer: which sentences, in which order, from the sources or by a language model; and how it is shown."""
