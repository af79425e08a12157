"""Reads of runs."""
