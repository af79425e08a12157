"""Runs, their outcomes and their explanations."""
