"""Benchmarks of the core and of the product."""
