"""How much better the hypothesis is than another translation, as PEAR says it."""
