"""Why a model gave a score: a weight for each token of the texts that it read."""
