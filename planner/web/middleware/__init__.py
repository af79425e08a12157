"""Middleware of all requests."""
