"""Kills commands, floods the server and tags many segments: `python -m benchmarks.reliability`."""
