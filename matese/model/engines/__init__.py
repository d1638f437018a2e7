"""What computes a network: torch, or numpy for small jobs."""
