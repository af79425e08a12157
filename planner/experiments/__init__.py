"""Experiments: many settings of one scenario at once, and the smallest change that reaches goals."""
