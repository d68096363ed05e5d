"""How an answer is written: the one place that knows an alphabet, a mark or a number word."""
