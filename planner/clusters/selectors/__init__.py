"""Reads of clusters."""
