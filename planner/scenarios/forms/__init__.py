"""The forms of scenarios."""
