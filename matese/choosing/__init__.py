"""Choosing a translation: reranking without a reference, and minimum Bayes risk."""
