"""How close the hypothesis is to the source and the reference, as in COMET's ranking models."""
