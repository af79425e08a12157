"""Reads of pages that belong to no feature."""
