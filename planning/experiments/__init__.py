"""Experiments: the figures of many settings of one cluster, and the smallest change that reaches goals."""
