"""Writes of runs, public links, searches and bundles."""
