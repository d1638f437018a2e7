"""What words, ranges, placeholders and languages of a text are: one definition each."""
