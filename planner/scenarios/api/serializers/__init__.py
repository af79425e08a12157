"""The API bodies of scenarios."""
