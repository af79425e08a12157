"""Reads of scenarios."""
