"""The parts of `make bench`; `benchmarks/bench.py` is the command."""
