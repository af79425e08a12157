"""Writes of experiments."""
