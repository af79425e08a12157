"""Volcano v1.15.1's scheduling decisions as a pure function."""
