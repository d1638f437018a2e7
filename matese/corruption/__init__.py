"""Errors injected into translations: what is replaced, inserted or left out, and where the error then stands."""
