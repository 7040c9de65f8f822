STOPWORDS_CHINESE: tuple[str, ...]
STOPWORDS_EN_PLUS: tuple[str, ...]
