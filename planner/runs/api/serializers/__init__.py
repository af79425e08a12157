"""The API bodies of runs."""
