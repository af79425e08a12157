"""Scenarios: editing, checks, history, rebase, preview and export."""
