"""Plain values from outside as validated types: JSON, settings in YAML, and what their docstrings say."""
