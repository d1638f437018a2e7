"""BIO tags of the hypothesis' tokens, and the error spans they stand for."""
