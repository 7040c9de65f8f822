"""What disturbs a reader of an answer: fragments, markup, dangling openers, connectives where grammar has none."""
