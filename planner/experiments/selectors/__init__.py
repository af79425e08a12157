"""Reads of experiments."""
