"""What a sentence asserts: units of the case, effects, figures, polarity, and the word lists behind them."""
