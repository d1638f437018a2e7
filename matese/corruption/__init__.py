"""Errors injected into translations: the edits, and the spans of the errors."""
