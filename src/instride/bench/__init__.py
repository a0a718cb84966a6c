"""Benchmarks that a user can run: the same training, once per way of saving, side by side."""
