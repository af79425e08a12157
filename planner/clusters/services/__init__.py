"""Writes of clusters."""
