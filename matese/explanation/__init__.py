"""Why a model gave a score, and whether it notices errors that are injected."""
