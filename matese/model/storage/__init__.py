"""Model directories: settings, tensors and cards."""
