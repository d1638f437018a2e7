"""Labels of severity for each token, as in the COMET family."""
