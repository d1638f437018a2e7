"""Which translation to take: reranking without a reference, and minimum Bayes risk."""
