"""What a sentence asserts: effects, figures, polarity, and the word lists behind them."""
