"""Errors of meaning: whether the hypothesis says something else than the other texts."""
