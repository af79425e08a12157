"""Writes of scenarios."""
