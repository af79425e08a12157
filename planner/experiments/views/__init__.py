"""The pages of experiments."""
