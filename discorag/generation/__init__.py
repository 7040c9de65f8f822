"""What is said and how, without a language model: selection, plan, sentences, compression, refinement, display."""
