"""The pages of scenarios."""
