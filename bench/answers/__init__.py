"""The benchmark of answers: refusal, first sentence, completeness, wording; without a language model."""
